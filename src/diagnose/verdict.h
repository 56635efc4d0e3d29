#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace feedrate {

// Adds `capacities` and `verdict` to a record of a finished run: which resource limits it and which
// stage in it, in one sentence. Bands by the share of the window in which the device waited for data:
// < 5 % not input-bound, 5-20 % moderately, >= 20 % highly input-bound.
void add_verdict(nlohmann::ordered_json& record);

}  // namespace feedrate
