#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "experiment/run_cell.h"

namespace feedrate {

// What is written. Older ones are read as well: 2 has no checksums, a ceiling that is a mean of
// those so far, and the first rank's window for several; 1 has no `valid` and no `monitors.series`
// either.
inline constexpr std::string_view kResultSchema = "feedrate.result/3";
inline constexpr std::string_view kReadSchemas[] = {kResultSchema, "feedrate.result/2",
                                                    "feedrate.result/1"};

// How a run belongs to its sweep.
struct RunPlace {
  std::string_view role = "cell";  // "ceiling" for the synthetic runs that open and close a repetition
  int repetition = 0;
  int order = 0;                   // of the run in the sweep, as it was carried out
  std::optional<double>
      ceiling_imgs_per_s;  // of the ceiling that opened the repetition; none for ceilings
};

// Images per second of all ranks together: images of the window / its wall time.
double imgs_per_s(const CellResult& result);

// The ledger's record of a run; docs/columns.md explains every field. `environment` is stored as it is.
nlohmann::ordered_json make_record(const CellResult& result, const RunPlace& place, const RunOptions& options,
                                   const nlohmann::ordered_json& environment);

// As a record has them: `limits`.
nlohmann::ordered_json run_limits_json(const RunLimits& limits);

// Fit to be quoted: it ended well, and no flag of it is serious.
bool is_valid(const nlohmann::ordered_json& record);

// The record as one line of JSON; bytes that are no UTF-8 (in a path, say) are replaced, not refused.
std::string to_line(const nlohmann::ordered_json& record);

}  // namespace feedrate
