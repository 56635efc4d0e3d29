#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "judge/flags.h"
#include "judge/verdict.h"
#include "ledger/anonymize.h"
#include "plan/sweep_order.h"
#include "plan/two_stage.h"
#include "run/cell_runner.h"
#include "run/run_options.h"

namespace feedrate::ledger {

// The part that a run has in `feedrate jobs`.
struct JobsPart {
  int of = 0;                       // jobs that there are
  int job = 0;                      // its number among them, from 1; 0: its cell ran alone
  int copy = 0;                     // which of those with the same cell and dataset, from 1
  std::optional<double> overlap{};  // see run::Overlap; of a run together that ended well
  std::uint64_t base_seed = 0;      // the command's; a run's own is its order in the ledger more
};

// What is known of a run beyond its result.
struct RunContext {
  plan::PlannedRun run;
  int order = 0;                          // of the run in the sweep, as it was carried out
  std::optional<judge::Ceiling> ceiling;  // that opened its repetition; not of a run in pairs
  std::optional<run::PageCache> first_page_cache;  // of the cell's first repetition, before this
  std::vector<std::string> differences;            // from other records of its ledger, see resume.h
  std::optional<plan::Precision> precision{};      // of a sweep that was asked for one
  std::optional<JobsPart> jobs{};
};

// A finished run and what is said of it. Made once, constant afterwards.
struct Record {
  RunContext context;
  run::CellResult result;
  std::vector<judge::Flag> flags;
  std::optional<judge::Verdict> verdict;  // of a run that ended well
  bool valid = false;

  // None for ceilings themselves.
  std::optional<judge::Ceiling> ceiling() const;
  // The same, if it may be quoted: what the verdict and a share may rest on.
  std::optional<judge::Ceiling> fit_ceiling() const;
};

// What `auto` in its cell stood for, by axis, as far as it was found out; empty where nothing is.
nlohmann::ordered_json stands_for_json(const run::CellResult& result);

// `anonymizer`: cleans the error and the flags' reasons, which the terminal shows.
Record make_record(run::CellResult result, RunContext context, const run::RunOptions& options,
                   const std::optional<Anonymizer>& anonymizer = {});

// A record as the ledger has it; docs/columns.md explains every field. `environment` is stored as
// it is. `anonymizer`: takes names and paths out of all else.
nlohmann::ordered_json record_json(const Record& record, const run::RunOptions& options,
                                   const nlohmann::ordered_json& environment,
                                   const std::optional<Anonymizer>& anonymizer = {});

}  // namespace feedrate::ledger
