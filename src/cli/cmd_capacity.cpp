#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/measuring.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/result_text.h"
#include "cli/signals.h"
#include "device/emulated_device.h"
#include "diagnose/gpu_search.h"
#include "measure/memory.h"
#include "run/datasets.h"
#include "storage/memory_copy.h"

namespace feedrate::cli {
namespace {

// What a step of PyTorch costs its host: about 1,470 kernel launches (the trace of ResNet-50 that
// comes with github.com/pytorch/kineto) of 5 to 10 us make 7 to 15 ms.
constexpr const char* kHostCpuMs = "10";
// 51 to 102 MB of gradients over 8 GPUs take 0.3 to 0.9 ms (tables of nccl-tests for H100 and
// A100), most of it beside the backward pass.
constexpr const char* kAllReduceMs = "0.5";
// MLPerf Storage asks for the first of ResNet-50.
constexpr double kLeast = 0.90, kBetter = 0.95;
constexpr std::string_view kCorrected = "queue_not_at_rest";  // see kept_up()
constexpr std::size_t kMostRuns = 40;  // of noise that never lets the search end

struct CapacityCommand {
  ExperimentOptions experiment;
  int most_gpus = 64, repetitions = 3;
  bool no_client = false;
};

// What a user of `capacity` has in mind who does not say otherwise.
void set_defaults(ExperimentOptions& experiment) {
  if (!experiment.config.empty()) return;  // which flags would override
  const auto otherwise = [&](const char* axis, const std::string& value) {
    if (experiment.axes[axis].empty()) experiment.axes[axis] = {value};
  };
  otherwise("data", "jpeg");
  otherwise("image-size", "mixed");
  otherwise("device", "emulated:a100");
  otherwise("workers", "1");
  const bool traced = experiment.axes["device"].front().starts_with("emulated:trace=");
  otherwise("host-cpu-ms", traced ? "auto" : kHostCpuMs);
  otherwise("all-reduce-ms", kAllReduceMs);
  otherwise("page-cache", "cold");
}

// Many short runs tell more than one long one: each has a few seconds, or as many steps as an
// interval needs.
void set_default_limits(const CLI::App& app, double step_s, run::RunLimits& limits) {
  constexpr double kSteps = 22;
  if (app.count("--max-warmup-seconds") == 0) limits.max_warmup_seconds = 2;
  if (app.count("--min-seconds") == 0) limits.min_seconds = std::max(4.0, kSteps * step_s);
  if (app.count("--max-seconds") == 0) limits.max_seconds = 1 + limits.min_seconds;
}

device::EmulatedDevice emulated_of(const plan::CellSettings& settings) {
  return device::emulated_device(settings.device_argument, settings.step_spec(0));
}

// What cannot be searched for. Throws a UsageError.
void check_kind(const ExperimentOptions& experiment, const plan::CellSettings& settings) {
  if (!settings.emulated()) {
    throw UsageError("--device " + settings.device, "is measured by `feedrate run`, not emulated",
                     "use --device emulated:NAME, emulated:IMGS_PER_S or emulated:trace=FILE");
  }
  if (std::isinf(emulated_of(settings).imgs_per_s))
    throw UsageError("--device " + settings.device, "takes any rate", "give it one");
  if (settings.variant().empty() || settings.cache != "none") {
    throw UsageError("--data " + settings.data + " --cache " + settings.cache,
                     "does not read the storage at each step", "use --cache none and stored data");
  }
  if (const auto gpus = experiment.axes.find("gpus");
      gpus != experiment.axes.end() && !gpus->second.empty())
    throw UsageError("--gpus", "is what is searched for", "use --most-gpus");
}

constexpr const char* kClientFolder = "client";  // of the run from memory, in the output folder

// What Ledger refuses as well, with the remedy of a sweep: a search is never gone on with. Throws
// an Error.
void check_output(const std::filesystem::path& output) {
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

// The cells of one search: the same but for the number of GPUs.
class Cells {
 public:
  Cells(CLI::App& app, ExperimentOptions experiment)
      : app_(app), experiment_(std::move(experiment)) {}

  Cells with(const char* axis, const std::string& value) const {
    Cells other = *this;
    other.experiment_.axes[axis] = {value};
    return other;
  }
  plan::Cell of(int gpus) const {
    ExperimentOptions one = experiment_;
    one.axes["gpus"] = {std::to_string(gpus)};
    const std::vector<plan::Cell> cells = cells_of(app_, one);
    if (cells.size() != 1) {
      throw UsageError(
          "feedrate capacity",
          "searches for one kind of cell, these options make " + std::to_string(cells.size()),
          "give one value for each axis");
    }
    return cells.front();
  }
  plan::CellSettings settings() const { return plan::settings_of(of(1)); }

 private:
  CLI::App& app_;
  ExperimentOptions experiment_;
};

// The share of the time in which the GPUs computed, averaging gradients left out of both: what
// MLPerf Storage calls accelerator utilisation. `imgs_per_s`: of all GPUs; `step_ms`: how long the
// window's steps compute on average.
double utilisation_of(double imgs_per_s, double step_ms, const run::CellResult& result) {
  const int images = result.settings.batch_size * result.settings.gpus;
  return step_ms / (1e3 * images / imgs_per_s - result.measurement->device.all_reduce_ms);
}

// The rate that can be kept up: what came out of the queues' stock in the window was not loaded in
// it. So no window has to wait until the queues are at rest, which takes minutes near the answer.
double kept_up(const run::Measurement& m) {
  return m.imgs_per_s * (1 - std::max(0.0, m.drawn_mean));
}

diagnose::GpusRun gpus_run(const run::CellResult& result, const device::EmulatedDevice& device) {
  const run::Measurement& m = *result.measurement;
  // The window holds a part of a trace, whose steps may be longer or shorter than the others.
  const double computing_ms = device::mean_step_ms(device, result.settings.batch_size,
                                                   static_cast<std::size_t>(m.warmup_steps),
                                                   static_cast<std::size_t>(m.steps));
  std::vector<double> step_s;
  for (const double ms : m.step_ms.values) step_s.push_back(1e-3 * ms);
  const double share = kept_up(m) / m.imgs_per_s;
  const int images = result.settings.batch_size * result.settings.gpus;
  diagnose::GpusRun run{.utilisation = utilisation_of(kept_up(m), computing_ms, result),
                        .ci95 = measure::block_interval(step_s, share * images)};
  if (run.ci95) {
    run.ci95->low = utilisation_of(run.ci95->low, computing_ms, result);
    run.ci95->high = utilisation_of(run.ci95->high, computing_ms, result);
  }
  return run;
}

// What was read with so many GPUs: of one run, or the mean of several.
struct Reading {
  double imgs_per_s = 0, bytes_per_s = 0, reads_per_s = 0, p99_ms = 0;
};
Reading reading_of(const run::Measurement& m) {
  const auto bytes = static_cast<double>(m.stages[measure::Stage::read].bytes);
  return {.imgs_per_s = kept_up(m),
          .bytes_per_s = bytes / m.window_s,
          .reads_per_s = static_cast<double>(m.latencies.reads.count()) / m.window_s,
          .p99_ms = 1e-6 * static_cast<double>(m.latencies.reads.percentile_ns(0.99))};
}

Reading mean_of(const std::vector<Reading>& runs) {
  Reading mean;
  const double share = 1 / static_cast<double>(runs.size());
  for (const Reading& run : runs) {
    mean.imgs_per_s += share * run.imgs_per_s;
    mean.bytes_per_s += share * run.bytes_per_s;
    mean.reads_per_s += share * run.reads_per_s;
    mean.p99_ms += share * run.p99_ms;
  }
  return mean;
}
using Readings = std::map<int, std::vector<Reading>>;  // of each run, by the number of GPUs

// What a reader of the answer has to know, of all runs: each thing once.
class Seen {
 public:
  // `of`: which run, "3 GPUs".
  void add(const record::Record& record, const std::string& of) {
    if (record.result.measurement)
      page_cache_.insert(page_cache_state(record.result.measurement->page_cache));
    for (const record::Flag& flag : record.flags) {
      if (flag.name != kCorrected) keep(flag, of);
    }
  }
  bool is_serious() const {
    return std::ranges::any_of(
        flags_, [](const record::Flag& f) { return f.severity == record::Severity::serious; });
  }
  // "cold (fadvise)"; two, if they were not alike.
  std::string page_cache() const {
    return listed(std::vector(page_cache_.begin(), page_cache_.end()));
  }
  const std::vector<record::Flag>& flags() const { return flags_; }

 private:
  // Rules that share a name have remedies of their own. The worst run's reason stands for all.
  void keep(record::Flag flag, const std::string& of) {
    flag.reason += " (" + of + ")";
    const auto known = std::ranges::find_if(flags_, [&](const record::Flag& other) {
      return other.name == flag.name && other.remedy == flag.remedy;
    });
    if (known == flags_.end())
      flags_.push_back(std::move(flag));
    else if (known->severity < flag.severity)
      *known = std::move(flag);
  }

  std::vector<record::Flag> flags_;
  std::set<std::string> page_cache_;
};

std::string counted_gpus(int gpus) { return std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs"); }

// Searches one after the other in one sweep, live.
class Searching {
 public:
  // `device`: what is emulated. `pass_s`: one GPU's pass over the dataset. `repetitions`: of the
  // searches.
  Searching(Measuring& measuring, const device::EmulatedDevice& device,
            const run::RunLimits& limits, double pass_s, int repetitions)
      : measuring_(measuring),
        device_(device),
        limits_(limits),
        pass_s_(pass_s),
        most_runs_(kMostRuns + 6 * static_cast<std::size_t>(repetitions)) {}

  // False: interrupted. Throws the Error of a run that failed.
  bool search(const Cells& cells, diagnose::GpuSearch& search, const std::string& title) {
    title_ = title, search_ = &search, cells_ = &cells, failed_.clear(), runs_ = 0;
    auto first = next();
    if (first.empty()) return true;
    const record::SweepOutcome outcome = measuring_.run(first, hooks(), /*stop_at_failure=*/true);
    line_.clear();
    if (!failed_.empty()) throw Error(title_, failed_, "see that it runs: `feedrate run`");
    return !outcome.interrupted;
  }
  const Readings& readings() const { return readings_; }
  const Seen& seen() const { return seen_; }
  const std::string& limit() const { return limit_; }

 private:
  std::vector<plan::PlannedRun> next() {
    while (const auto gpus = runs_ < most_runs_ ? search_->next() : std::nullopt) {
      const auto found = search_->runs().find(*gpus);
      const auto before = found == search_->runs().end() ? 0 : found->second.size();
      std::vector<plan::PlannedRun> plan = {
          {cells_->of(*gpus), plan::Role::cell, static_cast<int>(before), planned_}};
      try {
        check_pass(plan.front().cell, *gpus);
        measuring_.check(plan);
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
  // A cold run is one pass over the data, which has to last.
  void check_pass(const plan::Cell& cell, int gpus) const {
    if (!cell.is("page-cache", "cold")) return;
    const double pass_s = pass_s_ / gpus;
    if (pass_s >= 0.75 * limits_.min_seconds) return;
    throw Error(
        counted_gpus(gpus),
        format("would go through the dataset in %.1f s, and a cold run is one pass", pass_s),
        "use more pictures, --io uring-direct, which reads past the page cache, or "
        "--page-cache warm");
  }
  record::SweepHooks hooks() {
    return {
        .started =
            [this](const plan::PlannedRun& run, std::size_t, std::size_t, std::optional<double>) {
              label_ = title_ + ", " + counted_gpus(std::stoi(run.cell["gpus"].value()));
              line_.show(label_ + ": preparing");
            },
        .progress =
            [this](const run::RunProgress& p) {
              line_.show(label_ + ": " + describe(p, std::nullopt));
            },
        .finished = [this](const record::Record& record,
                           const nlohmann::ordered_json&) { finish(record); },
        .more = [this] { return next(); }};
  }
  void finish(const record::Record& record) {
    line_.clear();
    const run::CellResult& result = record.result;
    ++runs_;
    if (result.status == run::Status::failed) failed_ = result.error;
    if (!result.measurement) return;
    seen_.add(record, counted_gpus(result.settings.gpus));
    const diagnose::GpusRun run = gpus_run(result, device_);
    search_->add(result.settings.gpus, run);
    readings_[result.settings.gpus].push_back(reading_of(*result.measurement));
    std::fprintf(stderr, "%s: %s img/s, utilisation %.1f %%\n", label_.c_str(),
                 thousands(kept_up(*result.measurement)).c_str(), 100 * run.utilisation);
  }

  Measuring& measuring_;
  const device::EmulatedDevice& device_;
  const run::RunLimits limits_;
  const double pass_s_;
  const std::size_t most_runs_;
  ProgressLine line_;
  std::string title_, label_, failed_, limit_;
  diagnose::GpuSearch* search_ = nullptr;
  const Cells* cells_ = nullptr;
  Readings readings_;
  Seen seen_;
  std::size_t runs_ = 0;
  int planned_ = 0;  // of all searches: each run has a seed of its own
};

// --- The machine without the storage.

struct ClientLimit {
  double imgs_per_s = 0;
  std::size_t samples = 0;
  Seen seen;
};

// Reads that go past the page cache do so as well where there is no storage, if tmpfs lets them.
const char* through_memory(const std::string& io) {
  return io == "direct" ? "buffered" : io == "uring-direct" ? "uring" : io.c_str();
}

// What this machine reads, decodes and takes to `gpus` GPUs from memory, of no length of step.
std::optional<ClientLimit> client_limit(const Cells& cells, const CapacityCommand& command,
                                        const storage::DatasetVariant& dataset, int gpus) {
  const plan::CellSettings settings = cells.settings();
  constexpr double kShareOfMemory = 0.25;
  constexpr std::uint64_t kEnough = 1'000'000'000;
  const auto most =
      std::min(kEnough, static_cast<std::uint64_t>(
                            kShareOfMemory * static_cast<double>(measure::memory_available())));
  std::fprintf(stderr, "copying a part of the dataset into memory ...\n");
  std::optional<storage::MemoryCopy> copied;
  {
    const SignalWatcher signals;
    copied.emplace(dataset, settings.variant(), most, signals.token());
    if (signals.token().stop_requested()) return std::nullopt;
  }
  const storage::MemoryCopy& copy = *copied;
  CapacityCommand from_memory = command;
  from_memory.experiment.data = copy.data();
  if (!command.experiment.output.empty()) from_memory.experiment.output /= kClientFolder;
  const Cells there = cells.with("device", "emulated:inf")
                          .with("io", through_memory(settings.io))
                          .with("order", "sequential")
                          .with("host-cpu-ms", "0")
                          .with("all-reduce-ms", "0")
                          .with("page-cache", "as-is");
  from_memory.experiment.run.data = copy.data();
  Measuring measuring(from_memory.experiment, {there.of(gpus)}, std::nullopt);
  const std::vector<plan::PlannedRun> plan = {{there.of(gpus), plan::Role::cell, 0}};
  measuring.check(plan);
  measuring.open_ledger(plan, /*resume=*/false, /*force=*/false);
  ClientLimit limit{.imgs_per_s = 0, .samples = copy.samples(), .seen = {}};
  std::string failed;
  ProgressLine line;
  const record::SweepHooks hooks{
      .started = [](const plan::PlannedRun&, std::size_t, std::size_t, std::optional<double>) {},
      .progress =
          [&](const run::RunProgress& p) {
            line.show("from memory: " + describe(p, std::nullopt));
          },
      .finished =
          [&](const record::Record& record, const nlohmann::ordered_json&) {
            failed = record.result.error;
            limit.seen.add(record, "from memory");
            if (record.result.measurement) limit.imgs_per_s = record.result.measurement->imgs_per_s;
          },
      .more = {}};
  const record::SweepOutcome outcome = measuring.run(plan, hooks, /*stop_at_failure=*/true);
  line.clear();
  if (!failed.empty()) throw Error("from memory", failed, "leave it out: --no-client");
  return outcome.interrupted ? std::nullopt : std::optional(limit);
}

// --- What is printed.

std::string gpus_text(const diagnose::GpusFed& fed) {
  std::string text = (fed.at_least ? "at least " : "") + counted_gpus(fed.gpus);
  if (!fed.at_least && fed.low != fed.high) text += format(" (95 %%: %d to %d)", fed.low, fed.high);
  return text;
}

class Answer {
 public:
  Answer(const plan::CellSettings& settings, const storage::DatasetVariant& dataset)
      : settings_(settings),
        device_(emulated_of(settings)),
        mean_bytes_(static_cast<double>(dataset.total_bytes) /
                    static_cast<double>(dataset.samples.size())) {}

  void heading() const {
    const double host_ms =
        settings_.emulation.host_cpu_ms < 0 ? device_.host_cpu_ms : settings_.emulation.host_cpu_ms;
    std::printf("EMULATED GPUs: %s, %s img/s each (%s)\n", device_.name.c_str(),
                thousands(device_.imgs_per_s).c_str(), device_.source.c_str());
    std::printf(
        "a step of %d images takes %.1f ms, %g ms of CPU on the host, and %g ms to average "
        "the gradients\n",
        settings_.batch_size, 1e3 * settings_.batch_size / device_.imgs_per_s, host_ms,
        settings_.emulation.all_reduce_ms);
    std::printf("reading: --io %s, depth %d, %d worker%s a GPU%s, %s bytes a sample\n\n",
                settings_.io.c_str(), settings_.io_depth, settings_.workers,
                settings_.workers == 1 ? "" : "s", settings_.raw_read ? ", not decoded" : "",
                thousands(mean_bytes_).c_str());
  }

  // Each row is the mean of the runs with so many GPUs.
  void table(const diagnose::GpuSearch& search, const Readings& readings) const {
    std::printf("means of the runs with so many GPUs:\n");
    std::printf("%6s %6s %10s %10s %8s %9s %9s\n", "GPUs", "AU", "img/s", "needed", "MB/s",
                "reads/s", "p99 ms");
    for (const auto& [gpus, runs] : search.runs()) {
      const Reading reading = mean_of(readings.at(gpus));
      std::printf("%6d %5.1f%% %10s %10s %8.1f %9s %9.3f\n", gpus, 100 * search.utilisation(gpus),
                  thousands(reading.imgs_per_s).c_str(),
                  thousands(gpus * device_.imgs_per_s).c_str(), 1e-6 * reading.bytes_per_s,
                  thousands(reading.reads_per_s).c_str(), reading.p99_ms);
    }
  }

  void fed(const diagnose::GpuSearch& search, double share) const {
    const diagnose::GpusFed fed = search.fed(share);
    const double rate = share * fed.gpus * device_.imgs_per_s;
    std::printf("AU of %.0f %% or more: %s", 100 * share, gpus_text(fed).c_str());
    if (fed.gpus > 0) {
      std::printf(", which need %.1f MB/s, %s files/s", 1e-6 * rate * mean_bytes_,
                  thousands(rate).c_str());
    }
    std::printf("\n");
  }

  void client(const ClientLimit& limit, int gpus) const {
    std::printf(
        "from memory this machine alone: %s img/s (%d GPUs' workers, %zu samples), "
        "%d GPUs at %.0f %%\n",
        thousands(limit.imgs_per_s).c_str(), gpus, limit.samples,
        static_cast<int>(limit.imgs_per_s / (kLeast * device_.imgs_per_s)), 100 * kLeast);
  }

 private:
  const plan::CellSettings settings_;
  const device::EmulatedDevice device_;
  const double mean_bytes_;
};

// Beyond the largest number: `reached`, the most that was delivered; `client`: from memory.
std::string limit_text(double reached, double client, const plan::CellSettings& settings) {
  constexpr double kClearlyMore = 1.1;
  if (client >= kClearlyMore * reached)
    return format("the storage: it gave %s img/s, memory %s", thousands(reached).c_str(),
                  thousands(client).c_str());
  return format(
      "this machine: from memory its workers (%d a GPU) manage %s img/s, from the storage %s. Use "
      "more --workers, or --decoder raw-read, which reads and does not decode",
      settings.workers, thousands(client).c_str(), thousands(reached).c_str());
}

double most_delivered(const Readings& readings) {
  double most = 0;
  for (const auto& [gpus, runs] : readings) most = std::max(most, mean_of(runs).imgs_per_s);
  return most;
}

// What this machine manages without the storage; nothing where that cannot be measured, which is
// said, or where it was interrupted.
std::optional<ClientLimit> try_client(const Cells& cells, const CapacityCommand& command,
                                      const storage::DatasetVariant& dataset, int gpus) {
  try {
    return client_limit(cells, command, dataset, gpus);
  } catch (const Error& error) {
    std::fprintf(stderr, "feedrate: what this machine manages from memory is not known: %s\n",
                 error.what());
    return std::nullopt;
  }
}

// What the searches found.
struct Found {
  diagnose::GpuSearch search;
  std::optional<diagnose::GpuSearch> without_cpu;  // of the host; none where a step takes none
  Readings readings;
  Seen seen;
  std::string limit;  // why more GPUs were not tried
};

// Nothing: interrupted.
std::optional<Found> search_gpus(Measuring& measuring, const Cells& cells,
                                 const CapacityCommand& command,
                                 const device::EmulatedDevice& device, double pass_s,
                                 bool takes_cpu) {
  Found found{.search = {{kLeast, kBetter}, {1, command.most_gpus, command.repetitions}},
              .without_cpu = {},
              .readings = {},
              .seen = {},
              .limit = {}};
  Searching searching(measuring, device, command.experiment.run.limits, pass_s,
                      command.repetitions);
  if (!searching.search(cells, found.search, "storage")) return std::nullopt;
  found.readings = searching.readings(), found.limit = searching.limit();
  if (takes_cpu) {
    found.without_cpu.emplace(
        std::vector{kLeast}, diagnose::GpuSearch::Limits{std::max(1, found.search.fed(kLeast).gpus),
                                                         command.most_gpus, 1});
    if (!searching.search(cells.with("host-cpu-ms", "0"), *found.without_cpu, "no host CPU"))
      return std::nullopt;
  }
  found.seen = searching.seen();
  return found;
}

void print_found(const Found& found, const Answer& answer) {
  answer.heading();
  answer.table(found.search, found.readings);
  std::printf("\n");
  answer.fed(found.search, kLeast);
  answer.fed(found.search, kBetter);
  if (found.without_cpu) {
    std::printf("steps that take no CPU on the host: %s at %.0f %%\n",
                gpus_text(found.without_cpu->fed(kLeast)).c_str(), 100 * kLeast);
  }
  if (!found.limit.empty()) std::printf("more GPUs were not tried: %s\n", found.limit.c_str());
  if (const std::string state = found.seen.page_cache(); !state.empty())
    std::printf("  %-11s%s\n", "page cache", state.c_str());
  for (const record::Flag& flag : found.seen.flags()) std::fputs(flag_line(flag).c_str(), stdout);
  std::fflush(stdout);
}

void print_client(const Found& found, const Answer& answer, const ClientLimit& client,
                  const plan::CellSettings& settings) {
  for (const record::Flag& flag : client.seen.flags()) {
    if (flag.severity == record::Severity::serious) std::fputs(flag_line(flag).c_str(), stdout);
  }
  answer.client(client, found.search.runs().rbegin()->first);
  if (found.search.fed(kLeast).at_least) return;
  std::printf("what limits beyond: %s\n",
              limit_text(most_delivered(found.readings), client.imgs_per_s, settings).c_str());
}

int capacity(CLI::App& app, CapacityCommand& command) {
  ExperimentOptions& experiment = command.experiment;
  set_defaults(experiment);
  cells_of(app, experiment);  // reads the config's options, the dataset among them
  // What a trace holds is settled here: a file that changes later ends the search.
  const Cells typed(app, experiment);
  const Cells cells = typed.with("device", *typed.of(1)["device"]);
  const plan::CellSettings settings = cells.settings();
  check_kind(experiment, settings);
  check_output(experiment.output);
  const auto dataset = run::Datasets(experiment.data).of(settings);
  const device::EmulatedDevice emulated = emulated_of(settings);
  set_default_limits(app, settings.batch_size / emulated.imgs_per_s, experiment.run.limits);
  const double given_ms = settings.emulation.host_cpu_ms;
  const bool takes_cpu = (given_ms < 0 ? emulated.host_cpu_ms : given_ms) > 0;
  const double pass_s = static_cast<double>(dataset->samples.size()) / emulated.imgs_per_s;
  std::optional<Found> found;
  {
    Measuring measuring(experiment, {cells.of(1)}, std::nullopt);
    if (!measuring.ready()) return measuring.exit_code(1);
    measuring.open_ledger({}, /*resume=*/false, /*force=*/false);
    found = search_gpus(measuring, cells, command, emulated, pass_s, takes_cpu);
    if (!found) return measuring.exit_code(1);
  }
  const Answer answer(settings, *dataset);
  print_found(*found, answer);
  if (!command.no_client) {
    const auto client = try_client(cells, command, *dataset, found->search.runs().rbegin()->first);
    if (client) print_client(*found, answer, *client, settings);
  }
  std::printf(
      "\nAU is computed as MLPerf Storage defines it, for each run. The GPUs are emulated: this is "
      "no result of that or any consortium's benchmark.\n");
  return found->seen.is_serious() ? 1 : 0;
}

}  // namespace

CommandEntry add_capacity(CLI::App& program) {
  const auto command = std::make_shared<CapacityCommand>();
  CLI::App* app = program.add_subcommand(
      "capacity",
      "How many GPUs this storage feeds, with emulated ones: at 90 and 95 % utilisation");
  add_experiment_options(*app, command->experiment, "Axes (one value each)");
  app->add_option("-o,--output", command->experiment.output,
                  "keep the records, in a new ledger in this folder")
      ->type_name("DIR");
  app->add_option("--most-gpus", command->most_gpus, "try no more than so many")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  app->add_option("--repetitions", command->repetitions,
                  "runs on both sides of each answer, for its interval")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  app->add_flag("--no-client", command->no_client,
                "do not measure what this machine manages from memory");
  return {app, [=] { return capacity(*app, *command); }};
}

}  // namespace feedrate::cli
