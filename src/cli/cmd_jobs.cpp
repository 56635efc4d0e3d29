#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
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
#include "diagnose/fairness.h"
#include "measure/clock.h"
#include "measure/memory.h"
#include "plan/axes.h"
#include "ranks/launch.h"
#include "ranks/rank_processes.h"
#include "record/axes_file.h"
#include "record/ledger.h"
#include "record/plan_file.h"
#include "record/record_json.h"
#include "run/datasets.h"
#include "run/look_ahead.h"
#include "run/together.h"

namespace feedrate::cli {
namespace {

// Windows open and end with a step of each job: long ones, all about as long, overlap by 90 % and
// more.
constexpr double kSeconds = 20, kLongest = 1.05;

struct JobsCommand {
  ExperimentOptions experiment;
  int copies = 1;
  bool json = false, dry_run = false;
};

// --- What is asked for.

// One training, as it was asked for.
struct PlannedJob {
  plan::Cell cell;
  std::filesystem::path data;
  std::size_t first = 0;  // the first job with the same cell and dataset; may be itself
  int copy = 1;           // its number among those, from 1
  std::string name;       // "job 2 (png 500x375, 8 workers, ..., batch 64, emulated:v100)"

  bool is_first() const { return copy == 1; }
};

void refuse_launchers() {
  const auto launch = ranks::launch_of(environment_variable);
  if (!launch) return;
  throw UsageError("feedrate jobs",
                   "starts its jobs itself, and " + launch->launcher + " has started " +
                       std::to_string(launch->size) + " ranks",
                   "start it without a launcher");
}

// A job goes on loading until the last one has measured.
void refuse_what_cannot_go_on(const plan::Cell& cell) {
  if (cell.is("data", "synthetic")) {
    throw UsageError("--data synthetic", "loads nothing, so that it is no job on a storage",
                     "say what the jobs load, as in --data jpeg,png");
  }
  if (cell.is("page-cache", "cold")) {
    throw UsageError("--page-cache cold",
                     "is one pass over the files, and a job goes on until all have measured",
                     "read past the page cache: --io direct or uring-direct");
  }
}

std::string name_of(const PlannedJob& job, std::size_t number, bool has_datasets, bool has_copies) {
  std::string name = "job " + std::to_string(number) + " (" + job.cell.label() + ", batch " +
                     *job.cell["batch-size"] + ", " +
                     *job.cell.recorded(plan::axis_named("device"));
  if (has_datasets) name += ", " + job.data.string();
  if (has_copies) name += ", copy " + std::to_string(job.copy);
  return name + ")";
}

// Folders as they were first typed: `data` and `./data/` are one dataset, which is opened once.
class FirstTyped {
 public:
  std::filesystem::path of(const std::filesystem::path& data) {
    std::error_code missing;  // it is refused when it is opened
    const auto folder = std::filesystem::canonical(data, missing);
    return typed_.try_emplace(missing ? data : folder, data).first->second;
  }

 private:
  std::map<std::filesystem::path, std::filesystem::path> typed_;
};

// Each cell of each table, `copies` times. Jobs are alike whose records are of one cell, however it
// was typed, and of one dataset.
std::vector<PlannedJob> jobs_of(CLI::App& app, JobsCommand& command) {
  std::vector<PlannedJob> jobs;
  FirstTyped datasets;
  std::map<std::pair<std::string, std::filesystem::path>, std::size_t> first_of;
  for (const CellGroup& group : cell_groups_of(app, command.experiment)) {
    const std::filesystem::path data = datasets.of(group.data);
    for (const plan::Cell& cell : group.cells) {
      refuse_what_cannot_go_on(cell);
      const std::size_t first = first_of.try_emplace({cell.id(), data}, jobs.size()).first->second;
      auto copy = static_cast<int>(std::ranges::count(jobs, first, &PlannedJob::first));
      for (int i = 0; i < command.copies; ++i)
        jobs.push_back({.cell = cell, .data = data, .first = first, .copy = ++copy, .name = {}});
    }
  }
  if (jobs.size() < 2) {
    throw UsageError("feedrate jobs", "starts several trainings at once, these options make one",
                     "give several values of an axis, --copies N, or [[sweep]] tables in --config");
  }
  const bool has_datasets = std::ranges::any_of(
      jobs, [&](const PlannedJob& job) { return job.data != jobs.front().data; });
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const bool has_copies = std::ranges::any_of(
        jobs, [&](const PlannedJob& job) { return job.first == jobs[i].first && job.copy > 1; });
    jobs[i].name = name_of(jobs[i], i + 1, has_datasets, has_copies);
  }
  return jobs;
}

// --- What is measured.

// A dataset, and what all records of its jobs have in common.
class Store {
 public:
  Store(const ExperimentOptions& all, const std::filesystem::path& data, ProgressLine& line)
      : experiment_(of_dataset(all, data)),
        datasets_(
            data, [&line, data](std::uint64_t files) { line.show(listing_text(data, files)); },
            [&line](const std::string& note) {
              line.clear();
              std::fprintf(stderr, "feedrate: %s\n", note.c_str());
            }) {}

  // Opened once for all jobs that read the same, under watch; see look_ahead() for what it throws.
  const run::Datasets& with(const plan::Cell& cell, ranks::RankProcesses& processes) {
    const plan::CellSettings settings = plan::settings_of(cell);
    run::look_ahead(cell, settings, experiment_.run, processes, datasets_);
    datasets_.of(settings);
    if (environment_.is_null()) {
      anonymizer_ = anonymizer_of(experiment_);
      environment_ = environment_of(experiment_, anonymizer_);
    }
    return datasets_;
  }
  const run::RunOptions& options() const { return experiment_.run; }
  const std::optional<record::Anonymizer>& anonymizer() const { return anonymizer_; }
  record::RecordWriter writer(const run::RunOptions& options) const {
    return {options, environment_, anonymizer_};
  }

 private:
  static ExperimentOptions of_dataset(ExperimentOptions experiment,
                                      const std::filesystem::path& data) {
    experiment.data = experiment.run.data = data;
    return experiment;
  }
  const ExperimentOptions experiment_;
  // Looked at once the storage has answered.
  std::optional<record::Anonymizer> anonymizer_;
  nlohmann::ordered_json environment_;
  run::Datasets datasets_;
};

// What a job reaches by itself.
struct Alone {
  double imgs_per_s = 0;
  run::Beginning beginning;
  run::PageCache page_cache;
};

// What the jobs reached; by job.
struct Outcome {
  std::vector<std::optional<double>> alone, together;  // images/s; none for a job that failed
  run::Overlap overlap;
  std::vector<std::string> spoiled;  // what must not be quoted, and why
};

// Measures all jobs, first alone, then together.
class JobsRun {
 public:
  JobsRun(const JobsCommand& command, const std::vector<PlannedJob>& jobs)
      : command_(command), jobs_(jobs), ranks_(ranks::make_local_ranks({"rank"})) {
    for (const PlannedJob& job : jobs_) {
      if (!stores_.contains(job.data))
        stores_.try_emplace(job.data, command.experiment, job.data, line_);
    }
  }

  // Refuses what cannot be measured. Throws an Error. Jobs that are alike need the same, and one of
  // them is checked: a check may list the dataset's folder, which takes long.
  void check() {
    std::vector<double> bytes;
    for (const PlannedJob& job : jobs_) {
      bytes.push_back(job.is_first() ? runner_of(job, store_of(job).options()).check(job.cell)
                                     : bytes[job.first]);
    }
    const double needed = std::accumulate(bytes.begin(), bytes.end(), 0.0);
    line_.clear();
    const auto available = static_cast<double>(measure::memory_available());
    if (available == 0 || needed < 0.9 * available) return;
    throw Error("memory",
                format("the jobs need %.0f MB together, %.0f MB are available", 1e-6 * needed,
                       1e-6 * available),
                "use fewer jobs, a smaller --batch-size, fewer --workers, or --cache none");
  }

  // Throws an Error.
  void open_ledger() {
    const std::filesystem::path& folder = command_.experiment.output;
    if (folder.empty()) return;
    ledger_ = std::make_unique<record::Ledger>(folder, /*resume=*/false);
    record::keep_axes(folder);
  }

  Outcome measure() {
    const std::vector<std::optional<Alone>> alone = measure_alone();
    for (const auto& one : alone)
      outcome_.alone.push_back(one ? std::optional(one->imgs_per_s) : std::nullopt);
    outcome_.together.resize(jobs_.size());
    measure_together(alone);
    if (ledger_) {
      record::keep_end(command_.experiment.output,
                       {ledger_->size(), ledger_->last_xxh3(), !is_stopped()});
    }
    return std::move(outcome_);
  }

  bool is_stopped() const { return signals_.token().stop_requested(); }
  // 128 + signal if one came, else `otherwise`.
  int exit_code(int otherwise) const { return signals_.exit_code(otherwise); }

 private:
  Store& store_of(const PlannedJob& job) { return stores_.at(job.data); }
  run::CellRunner runner_of(const PlannedJob& job, const run::RunOptions& options) {
    return {options, registry_, *ranks_, store_of(job).with(job.cell, *ranks_)};
  }

  // One after the other. Jobs that are alike reach the same.
  std::vector<std::optional<Alone>> measure_alone() {
    std::vector<std::optional<Alone>> all(jobs_.size());
    for (std::size_t i = 0; i < jobs_.size() && !is_stopped(); ++i) {
      all[i] = jobs_[i].is_first() ? measure_alone(jobs_[i]) : all[jobs_[i].first];
    }
    return all;
  }

  std::optional<Alone> measure_alone(const PlannedJob& job) {
    const std::string title = "alone: " + job.name;
    const auto progress = [&](const run::RunProgress& p) {
      line_.show(title + ": " + describe(p, std::nullopt));
    };
    line_.show(title + ": preparing");
    const run::RunOptions& options = store_of(job).options();
    run::CellRunner runner = runner_of(job, options);
    const std::int64_t started_ns = measure::now_ns();
    run::CellResult result = runner.run(job.cell, progress, signals_.token());
    const record::Record record =
        keep(job, std::move(result), options, {.of = static_cast<int>(jobs_.size())}, {}, title);
    const auto& m = record.result.measurement;
    if (!m) return std::nullopt;
    return Alone{m->imgs_per_s, run::beginning_of(*m, started_ns), m->page_cache};
  }

  // All that did not fail by themselves.
  void measure_together(const std::vector<std::optional<Alone>>& alone) {
    std::vector<std::size_t> numbers;
    std::vector<run::Beginning> beginnings;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (!alone[i]) continue;
      numbers.push_back(i);
      beginnings.push_back(alone[i]->beginning);
    }
    if (is_stopped()) return;
    if (numbers.size() < 2) {
      std::fprintf(stderr, "feedrate: too few jobs are left to run together\n");
      return;
    }
    const run::Appointment appointment =
        run::appointment_of(measure::now_ns(), beginnings, command_.experiment.run.limits);
    std::vector<run::RunOptions> options;
    std::deque<run::CellRunner> runners;
    std::vector<run::Job> started;
    for (const std::size_t i : numbers) {
      options.push_back(store_of(jobs_[i]).options());
      options.back().seed += i;  // copies would read the same samples at the same time
      options.back().appointment = appointment;
      runners.emplace_back(options.back(), registry_, *ranks_,
                           store_of(jobs_[i]).with(jobs_[i].cell, *ranks_));
      started.push_back({jobs_[i].cell, &runners.back()});
    }
    std::vector<run::JobEnd> ends = run::run_together(
        started, [&](std::span<const run::RunProgress> seen) { show(seen, appointment.opens_ns); },
        signals_.token());
    run::leave_out_each_other(ends);
    outcome_.overlap = run::overlap_of(ends, appointment.opens_ns);
    for (std::size_t k = 0; k < ends.size(); ++k) {
      const std::size_t i = numbers[k];
      const record::Record record =
          keep(jobs_[i], std::move(ends[k].result), options[k],
               {.of = is_stopped() ? static_cast<int>(ends.size()) : outcome_.overlap.jobs,
                .job = static_cast<int>(i + 1),
                .copy = jobs_[i].copy,
                .overlap = outcome_.overlap.share},
               alone[i]->page_cache, "together: " + jobs_[i].name);
      if (const auto& m = record.result.measurement) outcome_.together[i] = m->imgs_per_s;
    }
  }

  void show(std::span<const run::RunProgress> seen, std::int64_t opens_ns) {
    double imgs_per_s = 0;
    for (const run::RunProgress& job : seen) imgs_per_s += job.imgs_per_s;
    const double left_s = measure::seconds(opens_ns - measure::now_ns());
    line_.show(std::to_string(seen.size()) + " jobs together: " +
               (left_s > 0 ? format("warming up, %.0f s left", left_s) : "measuring") + " · " +
               thousands(imgs_per_s) + " img/s in all");
  }

  // Makes the record, adds it to the ledger, and says what it holds.
  record::Record keep(const PlannedJob& job, run::CellResult result, const run::RunOptions& options,
                      record::JobsPart part, std::optional<run::PageCache> page_cache_alone,
                      const std::string& title) {
    const Store& store = store_of(job);
    if (!result.measurement) part.overlap.reset();
    record::RunContext context{.run = {job.cell},
                               .order = order_++,
                               .first_page_cache = std::move(page_cache_alone),
                               .jobs = part};
    record::Record record =
        record::make_record(std::move(result), std::move(context), options, store.anonymizer());
    nlohmann::ordered_json json = store.writer(options).json_of(record);
    if (ledger_) json = ledger_->append(std::move(json));
    line_.clear();
    std::fprintf(stderr, "%s\n", result_line(record, title).c_str());
    if (command_.json) {
      std::printf("%s\n", record::to_line(json).c_str());
      std::fflush(stdout);
    }
    for (const record::Flag& flag : record.flags) {
      if (flag.severity == record::Severity::serious)
        outcome_.spoiled.push_back(title + ": " + flag.name + ": " + flag.reason);
    }
    return record;
  }

  const JobsCommand& command_;
  const std::vector<PlannedJob>& jobs_;
  ProgressLine line_;
  const SignalWatcher signals_;  // before any other thread
  const std::unique_ptr<ranks::RankProcesses> ranks_;
  device::AcceleratorRegistry registry_;
  std::map<std::filesystem::path, Store> stores_;
  std::unique_ptr<record::Ledger> ledger_;
  int order_ = 0;
  Outcome outcome_;
};

// --- What is printed.

// The rate that was set; nothing for a device that trains.
std::optional<double> set_rate_of(const plan::Cell& cell) {
  const plan::CellSettings settings = plan::settings_of(cell);
  if (!settings.emulated()) return std::nullopt;
  const double rate =
      settings.gpus *
      device::emulated_device(settings.device_argument, settings.step_spec(0)).imgs_per_s;
  return std::isfinite(rate) ? std::optional(rate) : std::nullopt;
}

std::string rate_text(const std::optional<double>& imgs_per_s) {
  return imgs_per_s ? thousands(*imgs_per_s) : "-";
}
std::string share_text(const std::optional<double>& part, const std::optional<double>& whole) {
  return part && whole ? percent(*part / *whole) : "-";
}

void print_table(const std::vector<PlannedJob>& jobs, const Outcome& outcome) {
  std::printf("images/s alone and together; of device: of the rate that was set\n");
  std::printf("%10s %10s %9s %9s\n", "alone", "together", "of alone", "of device");
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto &alone = outcome.alone[i], &together = outcome.together[i];
    std::printf("%10s %10s %9s %9s  %s\n", rate_text(alone).c_str(), rate_text(together).c_str(),
                share_text(together, alone).c_str(),
                share_text(together, set_rate_of(jobs[i].cell)).c_str(), jobs[i].name.c_str());
  }
}

// Of the jobs that measured together.
void print_fairness(const std::vector<PlannedJob>& jobs, const Outcome& outcome) {
  std::vector<diagnose::JobRates> rates;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!outcome.together[i]) continue;
    rates.push_back({*outcome.alone[i], *outcome.together[i]});
    numbers.push_back(i);
  }
  if (rates.size() < 2) return;
  const diagnose::FairnessEstimate fairness =
      diagnose::fairness_over(std::vector{diagnose::fairness_of(rates)});
  std::printf(
      "\nfairness: %.3f, Jain's index of the %zu shares x of alone: (sum of x)^2 / (n * "
      "sum of x^2)\n  1: all alike, 1/n: one has all (Jain, Chiu and Hawe 1984, "
      "DEC-TR-301)\n",
      fairness.index.mean, rates.size());
  const double least = fairness.shares[fairness.least.front()].mean;
  const std::string& name = jobs[numbers[fairness.least.front()]].name;
  if (least > 1 - diagnose::kStarves) {
    std::printf("first to starve: none; the least is %s of alone, %s\n", percent(least).c_str(),
                name.c_str());
  } else {
    std::printf("first to starve: %s, %s of alone\n", name.c_str(), percent(least).c_str());
  }
  std::printf("overlap: all measured at once for %s of the longest window\n",
              percent(outcome.overlap.share).c_str());
}

void print_outcome(const std::vector<PlannedJob>& jobs, const Outcome& outcome) {
  print_table(jobs, outcome);
  print_fairness(jobs, outcome);
  for (const std::string& words : outcome.spoiled)
    std::printf("not to be quoted: %s\n", words.c_str());
}

int run_jobs(CLI::App& app, JobsCommand& command) {
  refuse_launchers();
  const std::vector<PlannedJob> jobs = jobs_of(app, command);
  run::RunLimits& limits = command.experiment.run.limits;
  if (app.count("--max-seconds") == 0) limits.max_seconds = kLongest * limits.min_seconds;
  JobsRun measuring(command, jobs);
  measuring.check();
  if (command.dry_run) {
    for (const PlannedJob& job : jobs) std::printf("%s\n", job.name.c_str());
    return 0;
  }
  measuring.open_ledger();
  const Outcome outcome = measuring.measure();
  if (measuring.is_stopped()) {
    std::fprintf(stderr, "feedrate: interrupted\n");
    return measuring.exit_code(1);
  }
  if (!command.json) print_outcome(jobs, outcome);
  const bool all_measured =
      std::ranges::all_of(outcome.together, [](const auto& rate) { return rate.has_value(); });
  return measuring.exit_code(all_measured ? 0 : 1);
}

}  // namespace

CommandEntry add_jobs(CLI::App& program) {
  const auto command = std::make_shared<JobsCommand>();
  CLI::App* app = program.add_subcommand(
      "jobs",
      "Several trainings at once on one storage: each one's rate, and how fairly they share");
  command->experiment.run.limits.min_seconds = kSeconds;
  command->experiment.run.limits.max_seconds = kLongest * kSeconds;
  add_experiment_options(*app, command->experiment,
                         "Axes (each cell of the product is a job; a [[sweep]] table may name a "
                         "dataset of its own)");
  app->add_option("--copies", command->copies, "start each job so many times")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app->add_option("-o,--output", command->experiment.output,
                  "also keep the records, in a new ledger in this folder")
      ->type_name("DIR");
  app->add_flag("--dry-run", command->dry_run, "print the jobs and end");
  app->add_flag("--json", command->json, "print every record as a line of JSON instead");
  return {app, [=] { return run_jobs(*app, *command); }};
}

}  // namespace feedrate::cli
