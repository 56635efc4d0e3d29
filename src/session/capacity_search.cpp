#include "session/capacity_search.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "base/error.h"
#include "base/text.h"
#include "measure/memory.h"
#include "pipeline/loader.h"
#include "ranks/rank_processes.h"
#include "run/probe_cell_data.h"
#include "run/window.h"
#include "session/ladder_cells.h"
#include "session/session.h"
#include "session/signals.h"
#include "session/sweep.h"
#include "storage/dataset.h"
#include "storage/memory_copy.h"

namespace feedrate::session {
namespace {

// The answer's rates are corrected for what the flag of this name says, see run::sustained_rate().
constexpr std::string_view kCorrected = "queue_not_at_rest";
constexpr const char* kClientFolder = "client";  // in the output folder: what was fed from memory

constexpr std::size_t kMostRuns = 40;  // of noise that never lets the search end

// The share of the time in which the GPUs computed, averaging gradients left out of both: what
// MLPerf Storage calls accelerator utilisation. `imgs_per_s`: of all GPUs; `step_ms`: how long the
// window's steps compute on average.
double utilisation_of(double imgs_per_s, double step_ms, const run::CellResult& result) {
  const int images = result.settings.batch_size * result.settings.gpus;
  return step_ms / (1e3 * images / imgs_per_s - result.measurement->device.all_reduce_ms);
}

judge::GpusRun gpus_run(const run::CellResult& result, const device::EmulatedDevice& device) {
  const run::Measurement& m = *result.measurement;
  // The window holds a part of a trace, whose steps may be longer or shorter than the others.
  const double computing_ms = device::mean_step_ms(device, result.settings.batch_size,
                                                   static_cast<std::size_t>(m.warmup_steps),
                                                   static_cast<std::size_t>(m.steps));
  std::vector<double> step_s;
  for (const double ms : m.step_ms.values) step_s.push_back(1e-3 * ms);
  const double share = run::sustained_rate(m) / m.imgs_per_s;
  const int images = result.settings.batch_size * result.settings.gpus;
  judge::GpusRun run{.utilisation = utilisation_of(run::sustained_rate(m), computing_ms, result),
                     .ci95 = measure::block_interval(step_s, share * images)};
  if (run.ci95) {
    run.ci95->low = utilisation_of(run.ci95->low, computing_ms, result);
    run.ci95->high = utilisation_of(run.ci95->high, computing_ms, result);
  }
  return run;
}

Reading reading_of(const run::Measurement& m) {
  const auto bytes = static_cast<double>(m.stages[measure::Stage::read].bytes);
  Reading reading{.imgs_per_s = run::sustained_rate(m),
                  .bytes_per_s = bytes / m.window_s,
                  .reads_per_s = static_cast<double>(m.latencies.count()) / m.window_s};
  if (const auto p99_ns = m.latencies.percentile_ns(0.99))
    reading.p99_ms = 1e-6 * static_cast<double>(*p99_ns);
  return reading;
}

// What Ledger refuses as well, with the remedy of a sweep: a search cannot be resumed. Throws an
// Error.
void refuse_old_results(const std::filesystem::path& output) {
  if (output.empty()) return;
  for (const std::filesystem::path& folder : {output, output / kClientFolder}) {
    const std::filesystem::path ledger = folder / "ledger.jsonl";
    std::error_code none;
    const auto bytes = std::filesystem::file_size(ledger, none);
    if (none || bytes == 0) continue;
    throw Error(
        ledger.string(), "already holds results",
        "a search begins anew and is in a ledger of its own: choose another folder, -o DIR");
  }
}

// Searches one after the other in one sweep, live.
class CapacitySearch {
 public:
  // `samples`: of the dataset.
  CapacitySearch(Session& session, const SearchedCell& searched, std::size_t samples,
                 const SearchOptions& options)
      : session_(session),
        watcher_(session.watcher()),
        searched_(searched),
        samples_(static_cast<double>(samples)),
        most_runs_(kMostRuns + 6 * static_cast<std::size_t>(options.repetitions)) {}

  // False: interrupted. Throws the Error of a run that failed.
  bool search(const plan::Cell& cell, judge::GpuSearch& search, const std::string& title) {
    title_ = title, search_ = &search, cell_ = cell, failed_.clear(), runs_ = 0;
    auto first = next();
    if (first.empty()) return true;
    const SweepOutcome outcome = run_sweep(session_, first, hooks(), /*stop_at_failure=*/true);
    watcher_.shows_nothing();
    if (!failed_.empty()) throw Error(title_, failed_, "see that it runs: `feedrate run`");
    return !outcome.interrupted;
  }

  const Readings& readings() const { return readings_; }
  const RunCaveats& seen() const { return seen_; }
  const std::string& limit() const { return limit_; }

 private:
  std::vector<plan::PlannedRun> next() {
    while (const auto gpus = runs_ < most_runs_ ? search_->next() : std::nullopt) {
      const auto runs = search_->runs().find(*gpus);
      const auto before = runs == search_->runs().end() ? 0 : runs->second.size();
      const plan::Cell cell = changed(cell_, {{"gpus", std::to_string(*gpus)}});
      std::vector<plan::PlannedRun> plan = {
          {cell, plan::Role::cell, static_cast<int>(before), planned_}};
      try {
        check_pass(cell, *gpus);
        session_.check(plan);
        ++planned_;
        return plan;
      } catch (const Error& error) {
        if (search_->runs().empty() || *gpus <= search_->runs().rbegin()->first) throw;
        limit_ = error.what();
        search_->cannot(*gpus);
      }
    }
    return {};
  }
  // A cold run is one pass over the data, which has to last. Its window is what is left of it
  // between the first steps and the last ones, whose batches lie in the queues by then.
  void check_pass(const plan::Cell& cell, int gpus) const {
    if (!cell.is("page-cache", "cold")) return;
    const plan::CellSettings& s = searched_.settings;
    const int ahead = pipeline::find_loader_kind(s.loader).batches_ahead(s.prefetch, s.workers);
    const double steps = samples_ / s.batch_size / gpus - run::kColdWarmupSteps - ahead;
    const double window_s = steps * searched_.step_s;
    if (window_s >= 0.75 * session_.options().run.limits.min_seconds) return;
    throw Error(counted_gpus(gpus),
                format("would leave %.1f s of the dataset to measure, and a cold run is one pass",
                       std::max(0.0, window_s)),
                "use more pictures, --io uring-direct, which reads past the page cache, or "
                "--page-cache warm");
  }
  SweepHooks hooks() {
    return {
        .started =
            [this](const plan::PlannedRun& run, std::size_t, std::size_t, std::optional<double>) {
              label_ = title_ + ", " + counted_gpus(std::stoi(run.cell["gpus"].value()));
              watcher_.shows(label_ + ": preparing");
            },
        .progress = [this](const run::RunProgress& p) { watcher_.shows(label_, p); },
        .finished = [this](const ledger::Record& record,
                           const nlohmann::ordered_json&) { finish(record); },
        .more = [this] { return next(); }};
  }
  void finish(const ledger::Record& record) {
    watcher_.shows_nothing();
    const run::CellResult& result = record.result;
    ++runs_;
    if (result.status == run::Status::failed) failed_ = result.error;
    if (!result.measurement) return;
    seen_.add(record, counted_gpus(result.settings.gpus));
    const judge::GpusRun run = gpus_run(result, searched_.device);
    search_->add(result.settings.gpus, run);
    readings_[result.settings.gpus].push_back(reading_of(*result.measurement));
    watcher_.logs(label_ + ": " + thousands(run::sustained_rate(*result.measurement)) +
                  format(" img/s, utilisation %.1f %%", 100 * run.utilisation));
  }

  Session& session_;
  Watcher& watcher_;
  const SearchedCell& searched_;
  const double samples_;
  const std::size_t most_runs_;
  std::string title_, label_, failed_, limit_;
  judge::GpuSearch* search_ = nullptr;
  plan::Cell cell_;
  Readings readings_;
  RunCaveats seen_{kCorrected};
  std::size_t runs_ = 0;
  int planned_ = 0;  // of all searches: each run has a seed of its own
};

// Reads that go past the page cache do so as well where there is no storage, if tmpfs lets them.
const char* through_memory(const std::string& io) {
  return io == "direct" ? "buffered" : io == "uring-direct" ? "uring" : io.c_str();
}

// Returns the exit code, where a signal came; otherwise 0.
int copy_part(const plan::Cell& cell, const run::RunOptions& options,
              const std::filesystem::path& to) {
  constexpr double kShareOfMemory = 0.25;
  constexpr std::uint64_t kEnough = 1'000'000'000;
  const auto most =
      std::min(kEnough, static_cast<std::uint64_t>(
                            kShareOfMemory * static_cast<double>(measure::memory_available())));
  const SignalWatcher signals;
  const auto processes = ranks::make_local_ranks({"rank"});
  const bool is_copied = run::copy_aside(cell, options, to, most, *processes, signals.token());
  return is_copied && !signals.token().stop_requested() ? 0 : signals.exit_code(1);
}

// Throws a std::runtime_error of one line.
ClientLimit feed_from_memory(const SearchedCell& searched, const ExperimentOptions& experiment,
                             int gpus, Watcher& watcher) {
  watcher.logs("copying a part of the dataset into memory ...");
  const storage::MemoryCopy copy;
  if (const int code = copy_part(searched.cell, experiment.run, copy.data()); code != 0)
    return {.seen = {}, .interrupted = code};
  ExperimentOptions from_memory = experiment;
  from_memory.data = from_memory.run.data = copy.data();
  if (!experiment.output.empty()) from_memory.output /= kClientFolder;
  const plan::Cell there =
      changed(searched.cell, {{"gpus", std::to_string(gpus)},
                              {"device", "emulated:inf"},
                              {"io", through_memory(searched.settings.io)},
                              {"order", "sequential"},
                              {"host-cpu-ms", format("%g", searched.host_cpu_ms)},
                              {"all-reduce-ms", "0"},
                              {"page-cache", "as-is"}});
  Session session(from_memory, {there}, std::nullopt, watcher);
  const std::vector<plan::PlannedRun> plan = {{there, plan::Role::cell, 0}};
  session.check(plan);
  session.open_ledger(plan, /*resume=*/false);
  ClientLimit limit{.imgs_per_s = 0, .samples = copy.samples(), .seen = RunCaveats(kCorrected)};
  std::string failed;
  const SweepHooks hooks{
      .progress = [&](const run::RunProgress& p) { watcher.shows("from memory", p); },
      .finished =
          [&](const ledger::Record& record, const nlohmann::ordered_json&) {
            failed = record.result.error;
            limit.seen.add(record, "from memory");
            if (record.result.measurement) limit.imgs_per_s = record.result.measurement->imgs_per_s;
          }};
  const SweepOutcome outcome = run_sweep(session, plan, hooks, /*stop_at_failure=*/true);
  watcher.shows_nothing();
  if (!failed.empty()) throw Error("from memory", failed, "leave it out: --no-client");
  if (outcome.interrupted) limit.interrupted = session.exit_code(1);
  return limit;
}

}  // namespace

std::string counted_gpus(int gpus) { return std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs"); }

Reading mean_of(const std::vector<Reading>& runs) {
  Reading mean;
  double p99_ms = 0;
  int that_know = 0;
  const double share = 1 / static_cast<double>(runs.size());
  for (const Reading& run : runs) {
    mean.imgs_per_s += share * run.imgs_per_s;
    mean.bytes_per_s += share * run.bytes_per_s;
    mean.reads_per_s += share * run.reads_per_s;
    if (run.p99_ms) p99_ms += *run.p99_ms, ++that_know;
  }
  if (that_know > 0) mean.p99_ms = p99_ms / that_know;
  return mean;
}

SearchedCell searched_cell(const plan::Cell& cell) {
  SearchedCell searched{.cell = cell, .settings = plan::settings_of(cell), .device = {}};
  const plan::CellSettings& s = searched.settings;
  if (!s.emulated()) {
    throw UsageError("--device " + s.device, "is measured by `feedrate run`, not emulated",
                     "use --device emulated:NAME, emulated:IMGS_PER_S or emulated:trace=FILE");
  }
  searched.device = device::emulated_device(s.device_argument, s.step_spec(0));
  if (std::isinf(searched.device.imgs_per_s))
    throw UsageError("--device " + s.device, "takes any rate", "give it one");
  if (s.variant().empty() || s.cache != "none") {
    throw UsageError("--data " + s.data + " --cache " + s.cache,
                     "does not read the storage at each step", "use --cache none and stored data");
  }
  searched.step_s = s.batch_size / searched.device.imgs_per_s;
  searched.host_cpu_ms = device::host_cpu_ms(searched.device, s.emulation);
  return searched;
}

Found search_gpus(const SearchedCell& searched, const ExperimentOptions& experiment,
                  const SearchOptions& options, Watcher& watcher) {
  refuse_old_results(experiment.output);
  Session session(experiment, {searched.cell}, std::nullopt, watcher);
  const auto dataset = session.dataset_of(searched.cell);
  session.open_ledger({}, /*resume=*/false);
  Found found{.search = {{kLeastUtilisation, kBetterUtilisation},
                         {1, options.most_gpus, options.repetitions}},
              .without_cpu = {},
              .bytes_per_sample = dataset->bytes_per_sample()};
  CapacitySearch searching(session, searched, dataset->samples.size(), options);
  bool is_whole = searching.search(searched.cell, found.search, "storage");
  found.readings = searching.readings(), found.limit = searching.limit();
  if (searched.host_cpu_ms > 0 && is_whole) {
    found.without_cpu.emplace(
        std::vector{kLeastUtilisation},
        judge::GpuSearch::Limits{std::max(1, found.search.fed(kLeastUtilisation).gpus),
                                 options.most_gpus, 1});
    is_whole = searching.search(changed(searched.cell, {{"host-cpu-ms", "0"}}), *found.without_cpu,
                                "no host CPU");
  }
  found.seen = searching.seen();
  if (!is_whole) found.interrupted = session.exit_code(1);
  return found;
}

std::optional<ClientLimit> client_limit(const SearchedCell& searched,
                                        const ExperimentOptions& experiment, int gpus,
                                        Watcher& watcher) {
  try {
    return feed_from_memory(searched, experiment, gpus, watcher);
  } catch (const std::runtime_error& error) {
    watcher.warns(std::string("what this machine manages from memory is not known: ") +
                  error.what());
    return std::nullopt;
  }
}

}  // namespace feedrate::session
