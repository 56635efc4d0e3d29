#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "judge/verdict.h"
#include "plan/cell.h"
#include "run/window.h"

namespace feedrate::ledger {

// The schema that is written. Older ones are read as well. Schema 3 has no `pairs`: each cell lies
// between two runs of its ceiling. Schema 2 has no checksums; its ceiling
// is the mean of the ceilings so far, and its window with several ranks is the first rank's. Schema
// 1 also lacks `valid` and `monitors.series`.
inline constexpr std::string_view kResultSchema = "feedrate.result/4";
inline constexpr std::string_view kReadSchemas[] = {kResultSchema, "feedrate.result/3",
                                                    "feedrate.result/2", "feedrate.result/1"};
// The first with checksums, and with all that a verdict follows from.
inline constexpr std::string_view kFirstSealed = "feedrate.result/3";

nlohmann::ordered_json cell_json(const plan::Cell& cell);  // every axis, in canonical order
plan::Cell cell_from(const nlohmann::ordered_json& json);
nlohmann::ordered_json limits_json(const run::RunLimits& limits);
run::RunLimits limits_from(const nlohmann::ordered_json& json);  // as far as they are recorded
nlohmann::ordered_json capacities_json(const std::vector<judge::Capacity>& capacities);
// Throws the JSON library's exceptions.
std::vector<judge::Capacity> capacities_from(const nlohmann::ordered_json& json);

// The record as one line of JSON; bytes that are no UTF-8 (in a path, say) are replaced, not
// refused.
std::string to_line(const nlohmann::ordered_json& record);

}  // namespace feedrate::ledger
