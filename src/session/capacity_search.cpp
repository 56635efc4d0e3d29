#include "session/capacity_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/error.h"
#include "base/text.h"
#include "device/published_rates.h"
#include "measure/memory.h"
#include "pipeline/loader.h"
#include "ranks/rank_processes.h"
#include "run/probe_cell_data.h"
#include "run/window.h"
#include "session/ladder_cells.h"
#include "session/run_evidence.h"
#include "session/search_runs.h"
#include "session/search_windows.h"
#include "session/session.h"
#include "session/signals.h"
#include "storage/dataset.h"
#include "storage/memory_copy.h"

namespace feedrate::session {
namespace {

constexpr std::size_t kMostRuns = 40;  // of noise that never lets the search end
constexpr const char* kFromMemory = "from memory";

// The share of the time in which the GPUs computed, see kLeastUtilisation. `imgs_per_s`: of all
// GPUs; `step_ms`: how long the window's steps compute on average.
double utilisation_of(double imgs_per_s, double step_ms, const run::CellResult& result) {
  const int images = result.settings.batch_size * result.settings.gpus;
  return step_ms / (1e3 * images / imgs_per_s - result.measurement->device.all_reduce_ms);
}

// Of the sustained rate, from the steps of the run.
std::optional<measure::Interval> sustained_interval(const run::CellResult& result) {
  const run::Measurement& m = *result.measurement;
  std::vector<double> step_s;
  for (const double ms : m.step_ms.values) step_s.push_back(1e-3 * ms);
  const double share = run::sustained_rate(m) / m.imgs_per_s;
  return measure::block_interval(step_s, share * result.settings.batch_size * result.settings.gpus);
}

judge::GpusRun gpus_run(const run::CellResult& result, const device::EmulatedDevice& device) {
  const run::Measurement& m = *result.measurement;
  // The window holds a part of a trace, whose steps may be longer or shorter than the others.
  const double computing_ms = device::mean_step_ms(device, result.settings.batch_size,
                                                   static_cast<std::size_t>(m.warmup_steps),
                                                   static_cast<std::size_t>(m.steps));
  judge::GpusRun run{.utilisation = utilisation_of(run::sustained_rate(m), computing_ms, result),
                     .ci95 = sustained_interval(result)};
  if (run.ci95) {
    run.ci95->low = utilisation_of(run.ci95->low, computing_ms, result);
    run.ci95->high = utilisation_of(run.ci95->high, computing_ms, result);
  }
  return run;
}

// Where little was fetched. Some file systems never count what they fetch: 0 is believed where the
// files lie in memory, or were read into it.
bool is_from_page_cache(const run::Measurement& m) {
  constexpr double kLittle = 0.1;
  const run::PageCache& cache = m.page_cache;
  const auto asked = static_cast<double>(m.stages[measure::Stage::read].bytes);
  const double fetched = m.storage_read_bytes;
  if (fetched > kLittle * asked) return false;
  if (cache.state != "as-is") return cache.state == "warm";
  return fetched > 0 || (fetched == 0 && cache.before > 0.5);
}

// See Reading. What waits for a CPU counts where it stands.
double read_share(const measure::StageTotals& stages) {
  std::int64_t all_ns = 0;
  for (const measure::StageTotal& stage : stages.stage) all_ns += stage.wall_ns;
  if (all_ns <= 0) return 0;
  return static_cast<double>(stages[measure::Stage::read].wall_ns) / static_cast<double>(all_ns);
}

// Searches one after the other in one sweep, live.
class CapacitySearch {
 public:
  // `samples`: of the dataset.
  CapacitySearch(Session& session, const SearchedCell& searched, std::size_t samples,
                 const SearchOptions& options)
      : session_(session),
        searched_(searched),
        samples_(samples),
        options_(options),
        windows_(session.options().run.limits, options),
        most_runs_(kMostRuns + 6 * static_cast<std::size_t>(options.repetitions)) {}

  // False: interrupted. Throws the line of a run that failed.
  bool search(const plan::Cell& cell, judge::GpuSearch& search, const std::string& title) {
    title_ = title, search_ = &search, cell_ = cell, runs_ = 0;
    const SearchRuns runs{.next = [this] { return next(); },
                          .label = [this] { return title_ + ", " + counted_gpus(gpus_); },
                          .add = [this](const ledger::Record& record) { return add(record); }};
    return runs.measure(session_, windows_);
  }

  const Readings& readings() const { return readings_; }
  const RunCaveats& seen() const { return seen_; }
  const std::string& limit() const { return limit_; }

 private:
  std::vector<plan::PlannedRun> next() {
    while (const auto gpus = runs_ < most_runs_ ? search_->next() : std::nullopt) {
      const plan::Cell cell = changed(cell_, {{"gpus", std::to_string(*gpus)}});
      std::vector<plan::PlannedRun> plan = {
          {cell, plan::Role::cell, windows_.runs_of(cell), planned_, window_s(cell)}};
      try {
        check_cold_pass(searched_, samples_, *gpus, session_.options().run.limits);
        session_.check(plan);
        gpus_ = *gpus;
        ++planned_, ++runs_;
        return plan;
      } catch (const Error& error) {
        if (search_->runs().empty() || *gpus <= search_->runs().rbegin()->first) throw;
        limit_ = error.what();
        search_->cannot(*gpus);
      }
    }
    return {};
  }
  double window_s(const plan::Cell& cell) {
    const double seen = std::max(options_.imgs_per_s, most_imgs_per_s(readings_));
    return windows_.longest_s(cell, seen, searched_.step_s);
  }
  std::string add(const ledger::Record& record) {
    const run::CellResult& result = record.result;
    seen_.add(record, counted_gpus(gpus_));
    const judge::GpusRun run = gpus_run(result, searched_.device);
    search_->add(gpus_, run);
    readings_[gpus_].push_back(reading_of(result));
    return thousands(run::sustained_rate(*result.measurement)) +
           format(" img/s, utilisation %.1f %%", 100 * run.utilisation);
  }

  Session& session_;
  const SearchedCell& searched_;
  const std::size_t samples_;
  const SearchOptions& options_;
  SearchWindows windows_;
  const std::size_t most_runs_;
  std::string title_, limit_;
  judge::GpuSearch* search_ = nullptr;
  plan::Cell cell_;
  Readings readings_;
  RunCaveats seen_{kCorrectedFlag};
  std::size_t runs_ = 0;
  int gpus_ = 0;     // of the run under way
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

// The cell without its storage, and on a device that takes any rate.
plan::Cell cell_in_memory(const SearchedCell& searched, int gpus) {
  return changed(searched.cell, {{"gpus", std::to_string(gpus)},
                                 {"device", "emulated:inf"},
                                 {"io", through_memory(searched.settings.io)},
                                 {"order", "sequential"},
                                 {"host-cpu-ms", format("%g", searched.host_cpu_ms)},
                                 {"all-reduce-ms", "0"},
                                 {"page-cache", "as-is"}});
}

// Throws a std::runtime_error of one line.
ClientLimit feed_from_memory(const SearchedCell& searched, const ExperimentOptions& experiment,
                             const Found& found, const SearchOptions& options, Watcher& watcher) {
  const int gpus = found.search.runs().rbegin()->first;
  watcher.logs("copying a part of the dataset into memory ...");
  const storage::MemoryCopy copy;
  if (const int code = copy_part(searched.cell, experiment.run, copy.data()); code != 0)
    return {.seen = {}, .interrupted = code};
  ExperimentOptions from_memory = experiment;
  from_memory.data = from_memory.run.data = copy.data();
  from_memory.run.limits = short_limits(experiment.run.limits);
  if (!experiment.output.empty()) from_memory.output /= kClientFolder;
  const plan::Cell there = cell_in_memory(searched, gpus);
  Session session(from_memory, {there}, std::nullopt, watcher);
  session.check({{there, plan::Role::cell, 0}});
  session.open_ledger({}, /*resume=*/false);
  ClientLimit limit{.samples = copy.samples(), .seen = RunCaveats{kCorrectedFlag}};
  // Memory gives no less than the storage did.
  const double least = std::max(options.imgs_per_s, most_imgs_per_s(found.readings));
  SearchWindows windows(from_memory.run.limits, options);
  const SearchRuns runs{
      .next = [&]() -> std::vector<plan::PlannedRun> {
        if (static_cast<int>(limit.runs.size()) >= options.repetitions) return {};
        return {{.cell = there,
                 .repetition = windows.runs_of(there),
                 .max_seconds = windows.longest_s(there, least, searched.step_s)}};
      },
      .label = [] { return std::string(kFromMemory); },
      .add =
          [&](const ledger::Record& record) {
            limit.seen.add(record, kFromMemory);
            limit.runs.push_back(reading_of(record.result));
            return thousands(limit.runs.back().imgs_per_s) + " img/s";
          }};
  if (!runs.measure(session, windows)) limit.interrupted = session.exit_code(1);
  return limit;
}

}  // namespace

std::string counted_gpus(int gpus) { return std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs"); }

Reading reading_of(const run::CellResult& result) {
  const run::Measurement& m = *result.measurement;
  const auto bytes = static_cast<double>(m.stages[measure::Stage::read].bytes);
  Reading reading{.imgs_per_s = run::sustained_rate(m),
                  .bytes_per_s = bytes / m.window_s,
                  .reads_per_s = static_cast<double>(m.latencies.count()) / m.window_s,
                  .ci95 = sustained_interval(result),
                  .cpus_busy = cpus_busy(m),
                  .read_share = read_share(m.stages),
                  .from_page_cache = is_from_page_cache(m)};
  if (const auto p99_ns = m.latencies.percentile_ns(0.99))
    reading.p99_ms = 1e-6 * static_cast<double>(*p99_ns);
  return reading;
}

bool are_from_page_cache(const Readings& readings) {
  return !readings.empty() && std::ranges::all_of(readings, [](const auto& one) {
    return std::ranges::all_of(one.second, &Reading::from_page_cache);
  });
}

Reading median_of(const std::vector<Reading>& runs) {
  const auto median = [&](double Reading::* figure) {
    std::vector<double> values;
    for (const Reading& run : runs) values.push_back(run.*figure);
    return measure::summarise(values).median;
  };
  Reading middle{.imgs_per_s = median(&Reading::imgs_per_s),
                 .bytes_per_s = median(&Reading::bytes_per_s),
                 .reads_per_s = median(&Reading::reads_per_s),
                 .cpus_busy = median(&Reading::cpus_busy),
                 .read_share = median(&Reading::read_share)};
  std::vector<double> p99_ms;
  for (const Reading& run : runs)
    if (run.p99_ms) p99_ms.push_back(*run.p99_ms);
  if (!p99_ms.empty()) middle.p99_ms = measure::summarise(p99_ms).median;
  return middle;
}

measure::Estimate rate_of(const std::vector<Reading>& runs) {
  std::vector<double> rates;
  for (const Reading& run : runs) rates.push_back(run.imgs_per_s);
  if (rates.size() >= measure::kLeastRepetitions) return measure::estimate_of_rates(rates);
  measure::Estimate estimate{.mean = measure::mean_of(rates), .ci95 = {}};
  for (const Reading& run : runs) {
    if (!run.ci95) return {.mean = estimate.mean, .ci95 = {}};
    const measure::Interval known = estimate.ci95.value_or(*run.ci95);
    estimate.ci95 = {std::min(known.low, run.ci95->low), std::max(known.high, run.ci95->high)};
  }
  return estimate;
}

double longest_window_s(const run::RunLimits& limits, double step_s, const SearchOptions& options) {
  const double wanted_s = kMoreSeconds + kWantedSteps * step_s;
  return std::max(limits.max_seconds, std::min(wanted_s, options.slow_window_s));
}

double expected_step_s(int images, double imgs_per_s, double least_step_s) {
  if (imgs_per_s <= 0) return std::numeric_limits<double>::infinity();
  return std::max(least_step_s, images / imgs_per_s);
}

run::RunLimits short_limits(run::RunLimits limits) {
  constexpr double kLongest = 4;  // seconds
  limits.min_steps = std::min(limits.min_steps, kFewestSteps);
  limits.min_seconds = std::min(limits.min_seconds, kLongest);
  limits.max_seconds = std::min(limits.max_seconds, limits.min_seconds + kMoreSeconds);
  return limits;
}

void refuse_old_results(const std::filesystem::path& output) {
  if (output.empty()) return;
  for (const auto& folder : {output, output / kClientFolder, output / kReadsFolder}) {
    const std::filesystem::path ledger = folder / "ledger.jsonl";
    std::error_code none;
    const auto bytes = std::filesystem::file_size(ledger, none);
    if (none || bytes == 0) continue;
    throw Error(
        ledger.string(), "already holds results",
        "a search begins anew and is in a ledger of its own: choose another folder, -o DIR");
  }
}

// Its window is what is left of the pass between the first steps and the last ones, whose batches
// lie in the queues by then.
void check_cold_pass(const SearchedCell& searched, std::size_t samples, int gpus,
                     const run::RunLimits& limits) {
  if (!searched.cell.is("page-cache", "cold")) return;
  const plan::CellSettings& s = searched.settings;
  const int ahead = pipeline::batches_ahead(s.loader, {.prefetch = s.prefetch,
                                                       .workers = s.workers,
                                                       .depth = s.io_depth,
                                                       .batch_size = s.batch_size});
  const double steps =
      static_cast<double>(samples) / s.batch_size / gpus - run::kColdWarmupSteps - ahead;
  const double window_s = steps * searched.step_s;
  if (window_s >= 0.75 * limits.min_seconds) return;
  throw Error(counted_gpus(gpus),
              format("would leave %.1f s of the dataset to measure, and a cold run is one pass",
                     std::max(0.0, window_s)),
              kLongerPass);
}

bool burns_much(const SearchedCell& searched) {
  constexpr double kMuch = 0.1;  // of a step
  return 1e-3 * searched.host_cpu_ms > kMuch * searched.step_s;
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
  device::check_host_cpu(searched.device, s.step_spec(0));
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
  Session session(experiment, {searched.cell}, std::nullopt, watcher);
  const auto dataset = session.dataset_of(searched.cell);
  session.open_ledger({}, /*resume=*/false);
  Found found{.search = {{kLeastUtilisation, kBetterUtilisation},
                         {1, options.most_gpus, options.repetitions}},
              .without_cpu = {},
              .bytes_per_sample = dataset->bytes_per_sample()};
  CapacitySearch searching(session, searched, dataset->samples.size(), options);
  const char* source = searched.cell.is("page-cache", "warm") ? "page cache" : "storage";
  bool is_whole = searching.search(searched.cell, found.search, source);
  found.readings = searching.readings(), found.limit = searching.limit();
  if (burns_much(searched) && is_whole) {
    found.without_cpu.emplace(
        std::vector{kLeastUtilisation},
        judge::GpuSearch::Limits{std::max(1, found.search.fed(kLeastUtilisation).gpus),
                                 options.most_gpus, options.repetitions});
    is_whole = searching.search(changed(searched.cell, {{"host-cpu-ms", "0"}}), *found.without_cpu,
                                "no host CPU");
  }
  found.seen = searching.seen();
  if (!is_whole) found.interrupted = session.exit_code(1);
  return found;
}

std::optional<ClientLimit> client_limit(const SearchedCell& searched,
                                        const ExperimentOptions& experiment, const Found& found,
                                        const SearchOptions& options, Watcher& watcher) {
  try {
    return feed_from_memory(searched, experiment, found, options, watcher);
  } catch (const std::runtime_error& error) {
    watcher.warns(std::string("what this machine manages from memory is not known: ") +
                  error.what());
    return std::nullopt;
  }
}

Limit limit_beyond(const measure::Estimate& from_storage, const measure::Estimate& from_memory) {
  constexpr double kClearlyMore = 1.1;
  const auto known = [](const measure::Estimate& rate) {
    return rate.ci95.value_or(measure::Interval{rate.mean, rate.mean});
  };
  const measure::Interval storage = known(from_storage), memory = known(from_memory);
  if (memory.low >= kClearlyMore * storage.high) return Limit::storage;
  const bool are_alike =
      memory.high < kClearlyMore * storage.low && storage.high < kClearlyMore * memory.low;
  return are_alike ? Limit::machine : Limit::not_clear;
}

std::optional<double> own_h200_rate(const SearchedCell& searched) {
  const auto rates = device::published_rates();
  if (std::ranges::find(rates, kOwnH200, &device::PublishedRate::name) == rates.end())
    return std::nullopt;
  device::StepSpec spec = searched.settings.step_spec(0);
  spec.emulation = {};  // what the searched device's steps cost the host is not asked of this one
  return device::emulated_device(kOwnH200, spec).imgs_per_s;
}

}  // namespace feedrate::session
