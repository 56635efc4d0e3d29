#include "session/reads_in_flight_search.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "judge/reads_in_flight.h"
#include "measure/affinity.h"
#include "measure/control_group.h"
#include "session/ladder_cells.h"
#include "session/search_runs.h"
#include "session/search_windows.h"
#include "session/session.h"

namespace feedrate::session {
namespace {

// The depth is an axis of what reads files one by one, and `direct` refuses more than one.
bool takes_a_depth(const plan::Cell& cell) {
  const auto deeper = with(cell, {{"io-depth", "2"}});
  return deeper && deeper->is("io-depth", "2");
}

int cpus_for_workers() {
  const int cpus = measure::allowed_cpus();
  const double quota = measure::cpu_quota().cpus;
  return quota > 0 ? std::min(cpus, std::max(1, static_cast<int>(std::ceil(quota)))) : cpus;
}

judge::InFlightSearch::Limits search_limits(const SearchedCell& searched, const TypedReads& typed) {
  constexpr int kMost = 64;  // workers, and reads of each
  // A batch may bound a larger depth, which then stays in the cell as it was typed.
  const judge::LoaderReads given{searched.settings.workers, searched.settings.reads_of_worker()};
  judge::InFlightSearch::Limits limits{given, given, cpus_for_workers()};
  if (!typed.workers) limits.start.workers = 1, limits.most.workers = kMost;
  if (!typed.depth && takes_a_depth(searched.cell))
    limits.start.depth = 1, limits.most.depth = kMost;
  // A batch holds no more, see CellSettings::reads_of_worker().
  if (searched.settings.drains_each_batch() && limits.most.depth > limits.start.depth)
    limits.most.depth = std::clamp(searched.settings.batch_size, limits.start.depth, kMost);
  return limits;
}

// Small ones, so that a slow storage ends several of them in a short window. A loader that drains
// at each batch's end reads as in the search for GPUs only with the same batches.
int in_flight_batch(const plan::CellSettings& settings, const judge::LoaderReads& reads) {
  constexpr int kFewest = 8, kMost = 32;
  if (settings.drains_each_batch()) return settings.batch_size;
  return std::min(settings.batch_size, std::clamp(reads.count(), kFewest, kMost));
}

plan::Cell cell_with_reads(const SearchedCell& searched, const judge::LoaderReads& reads) {
  std::map<std::string, std::string> values{{"workers", std::to_string(reads.workers)}};
  const bool has_them = searched.settings.reads_of_worker() == reads.depth;
  if (searched.cell["io-depth"] && !has_them) values["io-depth"] = std::to_string(reads.depth);
  return changed(searched.cell, values);
}

// The orders of its runs are none of those in which the search for GPUs reads.
ExperimentOptions client_options(const ExperimentOptions& experiment) {
  constexpr std::uint64_t kSeedsApart = 1 << 20;
  ExperimentOptions options = experiment;
  options.run.seed += kSeedsApart;
  options.run.limits = short_limits(experiment.run.limits);
  if (!options.output.empty()) options.output /= kReadsFolder;
  return options;
}

SearchedCell reading_as(SearchedCell searched, const judge::LoaderReads& reads) {
  searched.settings.workers = reads.workers;
  searched.settings.io_depth = reads.depth;
  return searched;
}

// Measures in one sweep, live.
class ClientRuns {
 public:
  // `samples`: of the dataset; `limits`: of the search for GPUs.
  ClientRuns(Session& session, const SearchedCell& searched, std::size_t samples,
             const run::RunLimits& limits, const SearchOptions& options,
             const judge::InFlightSearch::Limits& reads)
      : session_(session),
        searched_(searched),
        samples_(samples),
        limits_(limits),
        windows_(session.options().run.limits, options),
        search_(reads) {}

  // Throws the line of a run that failed.
  void run() {
    const SearchRuns runs{.next = [this] { return next(); },
                          .label = [this] { return label(); },
                          .add = [this](const ledger::Record& record) { return add(record); }};
    if (!runs.measure(session_, windows_)) found_.interrupted = session_.exit_code(1);
  }

  ReadsFound found() const {
    ReadsFound found = found_;
    found.is_searched = true;
    if (found.interrupted) return found;
    found.chosen = search_.chosen();
    found.more_adds_nothing = search_.more_adds_nothing();
    return found;
  }

 private:
  std::vector<plan::PlannedRun> next() {
    while (const auto reads = search_.next()) {
      const plan::Cell cell = in_flight_cell(searched_, *reads);
      std::vector<plan::PlannedRun> plan = {
          {cell, plan::Role::cell, windows_.runs_of(cell), planned_,
           windows_.longest_s(cell, most_imgs_per_s(found_.readings), 0)}};
      try {
        // What the search for GPUs would refuse is not chosen.
        check_cold_pass(reading_as(searched_, *reads), samples_, 1, limits_);
        check_samples(searched_, *reads, samples_);
        session_.check(plan);
        now_ = *reads;
        ++planned_;
        return plan;
      } catch (const Error& error) {
        if (found_.readings.empty()) throw;
        found_.limit = error.what();
        search_.cannot(*reads);
      }
    }
    return {};
  }
  std::string label() const { return "reads in flight, " + reads_text(now_); }
  std::string add(const ledger::Record& record) {
    const auto median_ns = record.result.measurement->latencies.percentile_ns(0.5);
    if (found_.readings.empty() && median_ns)
      found_.first_read_ms = 1e-6 * static_cast<double>(*median_ns);
    found_.seen.add(record, label());
    const Reading reading = reading_of(record.result);
    search_.add(now_, reading.imgs_per_s);
    found_.readings[now_].push_back(reading);
    return thousands(reading.imgs_per_s) + " img/s";
  }

  Session& session_;
  const SearchedCell& searched_;
  const std::size_t samples_;
  const run::RunLimits& limits_;
  SearchWindows windows_;
  judge::InFlightSearch search_;
  judge::LoaderReads now_;
  ReadsFound found_{.seen = RunCaveats{"short_window", kCorrectedFlag}};
  int planned_ = 0;
};

}  // namespace

std::string reads_text(const judge::LoaderReads& reads) {
  return std::to_string(reads.workers) + (reads.workers == 1 ? " worker" : " workers") +
         " x depth " + std::to_string(reads.depth);
}

int searched_reads_axes(const SearchedCell& searched, const TypedReads& typed) {
  const judge::InFlightSearch::Limits limits = search_limits(searched, typed);
  return (limits.start.workers < limits.most.workers ? 1 : 0) +
         (limits.start.depth < limits.most.depth ? 1 : 0);
}

SearchedCell searched_cell_with(const SearchedCell& searched, const judge::LoaderReads& reads) {
  return searched_cell(cell_with_reads(searched, reads));
}

double chosen_imgs_per_s(const ReadsFound& reads) {
  const auto chosen = reads.readings.find(reads.chosen);
  return chosen == reads.readings.end() ? 0 : median_of(chosen->second).imgs_per_s;
}

double cpus_busy_with_more(const ReadsFound& reads) {
  double busiest = 0;
  if (!reads.more_adds_nothing) return 0;
  for (const auto& [tried, runs] : reads.readings)
    if (tried.count() >= reads.chosen.count() && tried.workers >= reads.chosen.workers)
      busiest = std::max(busiest, median_of(runs).cpus_busy);
  return busiest;
}

plan::Cell in_flight_cell(const SearchedCell& searched, const judge::LoaderReads& reads) {
  const int batch = in_flight_batch(searched.settings, reads);
  return changed(cell_with_reads(searched, reads), {{"gpus", "1"},
                                                    {"batch-size", std::to_string(batch)},
                                                    {"device", "emulated:inf"},
                                                    {"host-cpu-ms", "0"},
                                                    {"all-reduce-ms", "0"}});
}

void check_samples(const SearchedCell& searched, const judge::LoaderReads& reads,
                   std::size_t samples) {
  constexpr std::size_t kLeastOfEach = 20;  // reads of a pass, one after the other
  const auto count = static_cast<std::size_t>(reads.count());
  if (!searched.cell.is("page-cache", "cold") || samples >= kLeastOfEach * count) return;
  throw Error(
      reads_text(reads),
      format("%zu reads in flight are more than a twentieth of the %zu pictures, and a cold "
             "run is one pass",
             count, samples),
      kLongerPass);
}

ReadsFound search_reads_in_flight(const SearchedCell& searched, const ExperimentOptions& experiment,
                                  const TypedReads& typed, const SearchOptions& search,
                                  Watcher& watcher) {
  const judge::InFlightSearch::Limits limits = search_limits(searched, typed);
  const ReadsFound unsearched{.typed = typed,
                              .chosen = limits.start,
                              .most = limits.most,
                              .decodes = !searched.settings.raw_read,
                              .one_reader = judge::one_reader_of(searched.settings)};
  if (limits.start == limits.most) return unsearched;
  const ExperimentOptions options = client_options(experiment);
  Session session(options, {searched.cell}, std::nullopt, watcher);
  // What the search for GPUs would refuse is refused now.
  session.runner().check_device(searched.cell);
  const std::size_t samples = session.dataset_of(searched.cell)->samples.size();
  check_cold_pass(reading_as(searched, limits.start), samples, 1, experiment.run.limits);
  try {
    check_samples(searched, limits.start, samples);
  } catch (const Error& error) {
    ReadsFound found = unsearched;
    found.limit = error.what();
    return found;
  }
  session.open_ledger({}, /*resume=*/false);
  ClientRuns runs(session, searched, samples, experiment.run.limits, search, limits);
  runs.run();
  ReadsFound found = runs.found();
  found.typed = typed;
  found.most = limits.most;
  found.decodes = unsearched.decodes;
  found.one_reader = unsearched.one_reader;
  return found;
}

}  // namespace feedrate::session
