#pragma once
#include <nlohmann/json.hpp>

#include "experiment/run_cell.h"

namespace feedrate {

// What a reader of this number has to know before trusting it: an array of {name, severity, reason,
// remedy}. Severities: "note" (true of the run, no fault), "warning" (the number may be off),
// "serious" (do not quote it).
nlohmann::ordered_json flags_of(const CellResult& result, const RunOptions& options);

}  // namespace feedrate
