#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ledger/record.h"
#include "plan/cell.h"
#include "run/together.h"
#include "session/run_caveats.h"
#include "session/session.h"

namespace feedrate::session {

// One training, as it was asked for.
struct PlannedJob {
  plan::Cell cell;
  std::filesystem::path data;
  std::size_t first = 0;  // the first job with the same cell and dataset; may be itself
  int copy = 1;           // its number among those, from 1
  std::string name;       // "job 2 (png 500x375, 8 workers, ..., batch 64, emulated:v100)"

  bool is_first() const { return copy == 1; }
};

// The jobs that run alone in a repetition, of those that are alike the first, in their order: as
// they were typed where there is one repetition. Else the seed shuffles each anew, so that what
// changes from the start to the end of a repetition hits each alike.
std::vector<std::size_t> order_alone(const std::vector<PlannedJob>& jobs, int repetition,
                                     int repetitions, std::uint64_t seed);

// What the jobs reached in one repetition; by job.
struct JobsRepetition {
  std::vector<std::optional<double>> alone, together;  // images/s; none for a job that failed
  double overlap = 0;                                  // see run::Overlap
  RunCaveats seen{};                                   // of its runs that measured
  bool all_measured() const;                           // together
};

// Why runs of a job, alone or together, must not be quoted.
struct SpoiledRuns {
  std::string of;             // "together: job 2 (...)"
  judge::Flag flag;           // the first such run's
  std::set<int> repetitions;  // in which, from 0
};

struct JobsOutcome {
  std::vector<JobsRepetition> repetitions;
  std::vector<SpoiledRuns> spoiled;
  bool all_measured() const;  // in each repetition
  // A run of this repetition, from 0, must not be quoted for this. Each thing is kept once.
  void spoil(int repetition, const std::string& of, const judge::Flag& flag);
  // Leaves out the last repetition, which a signal cut short, with what was said of its runs.
  void drop_last();
};

// Measures all jobs, first alone, then together, as often as asked.
class JobsRun {
 public:
  // After each run: its record, as it was written, and its name: "alone: job 1 (...)".
  using Finished = std::function<void(const ledger::Record&, const nlohmann::ordered_json&,
                                      const std::string& title)>;
  // `session`, `jobs` outlive it.
  JobsRun(Session& session, const std::vector<PlannedJob>& jobs, int repetitions,
          Finished finished);

  // Refuses what cannot be measured. Throws an Error or an UnreadableDataset.
  void check();

  // Once the session is stopped, of the complete repetitions alone.
  JobsOutcome measure();

 private:
  // What a job reaches by itself.
  struct Alone {
    double imgs_per_s = 0;
    run::Beginning beginning;
  };
  using AllAlone = std::vector<std::optional<Alone>>;

  std::string in_repetition() const;
  void measure_repetition();
  run::RunOptions options_of(const PlannedJob& job, int order);
  AllAlone measure_alone();
  std::optional<Alone> run_alone(const PlannedJob& job);
  void measure_together(const std::vector<std::size_t>& numbers, const AllAlone& alone);
  void show(std::span<const run::RunProgress> seen, std::int64_t opens_ns);
  ledger::Record keep(const PlannedJob& job, run::CellResult result, const run::RunOptions& options,
                      ledger::JobsPart part, const std::string& title);
  void note(const PlannedJob& job, const ledger::Record& record, const std::string& title);

  Session& session_;
  const std::vector<PlannedJob>& jobs_;
  const int repetitions_;
  Watcher& watcher_;
  const Finished finished_;
  std::vector<std::optional<run::PageCache>> first_page_caches_;  // by job; alone
  int order_ = 0, repetition_ = 0;
  JobsOutcome outcome_;
};

}  // namespace feedrate::session
