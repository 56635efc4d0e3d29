#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/verdict.h"
#include "plan/sweep_order.h"
#include "record/anonymize.h"
#include "record/flags.h"
#include "run/cell_runner.h"
#include "run/run_options.h"

namespace feedrate::record {

// The schema that is written. Older ones are read as well. Schema 2 has no checksums; its ceiling
// is the mean of the ceilings so far, and its window with several ranks is the first rank's. Schema
// 1 also lacks `valid` and `monitors.series`.
inline constexpr std::string_view kResultSchema = "feedrate.result/3";
inline constexpr std::string_view kReadSchemas[] = {kResultSchema, "feedrate.result/2",
                                                    "feedrate.result/1"};

// What is known of a run beyond its result.
struct RunContext {
  plan::PlannedRun run;
  int order = 0;                             // of the run in the sweep, as it was carried out
  std::optional<double> ceiling_imgs_per_s;  // of the ceiling that opened its repetition
  std::vector<std::string> differences;      // from other records of its ledger, see resume.h
};

// A finished run and what is said of it. Made once, constant afterwards.
struct Record {
  RunContext context;
  run::CellResult result;
  std::vector<Flag> flags;
  std::optional<diagnose::Verdict> verdict;  // of a run that ended well
  bool valid = false;

  // Its ceiling's rate; none for ceilings.
  std::optional<double> ceiling_imgs_per_s() const;
};
// `anonymizer`: takes names and paths out of the texts that the terminal shows as well.
Record make_record(run::CellResult result, RunContext context, const run::RunOptions& options,
                   const std::optional<Anonymizer>& anonymizer = {});

// Writes records as the ledger has them; docs/columns.md explains every field. What all records of
// a command have in common is given once. Thread-safe.
class RecordWriter {
 public:
  // `environment` is stored as it is. `anonymizer`: takes names and paths out of each record.
  RecordWriter(run::RunOptions options, nlohmann::ordered_json environment,
               std::optional<Anonymizer> anonymizer = {});
  nlohmann::ordered_json json_of(const Record& record) const;
  const std::optional<Anonymizer>& anonymizer() const { return anonymizer_; }

 private:
  const run::RunOptions options_;
  const nlohmann::ordered_json environment_;
  const std::optional<Anonymizer> anonymizer_;
};

nlohmann::ordered_json cell_json(const plan::Cell& cell);  // every axis, in canonical order
plan::Cell cell_from(const nlohmann::ordered_json& json);
nlohmann::ordered_json limits_json(const run::RunLimits& limits);
nlohmann::ordered_json capacities_json(const std::vector<diagnose::Capacity>& capacities);

// The record as one line of JSON; bytes that are no UTF-8 (in a path, say) are replaced, not
// refused.
std::string to_line(const nlohmann::ordered_json& record);

}  // namespace feedrate::record
