#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "plan/axes.h"
#include "session/jobs_run.h"
#include "session/ranks.h"
#include "text/jobs_text.h"
#include "text/live_watcher.h"
#include "text/result_text.h"
#include "text/shown_run.h"

namespace feedrate::cli {
namespace {

// Windows open and end with a step of each job: long ones, all about as long, overlap by 90 % and
// more.
constexpr double kSeconds = 20, kLongest = 1.05;

struct JobsCommand {
  session::ExperimentOptions experiment;
  int copies = 1, repetitions = 1;
  bool json = false, dry_run = false;
};

// A job goes on loading until the last one has measured.
void refuse_what_cannot_go_on(const plan::Cell& cell) {
  if (cell.is("data", "synthetic")) {
    throw UsageError("--data synthetic", "loads nothing, so that it is no job on a storage",
                     "say what the jobs load, as in --data jpeg,png");
  }
  if (cell.is("cache", "discard")) {
    throw UsageError("--cache discard", "waits for nothing that it loads: its rate is the device's",
                     "use --cache none");
  }
  if (cell.is("page-cache", "cold")) {
    throw UsageError("--page-cache cold",
                     "is one pass over the files, and a job goes on until all have measured",
                     "read past the page cache: --io direct or uring-direct");
  }
}

std::string name_of(const session::PlannedJob& job, std::size_t number, bool has_datasets,
                    bool has_copies) {
  std::string name = "job " + std::to_string(number) + " (" + job.cell.label() + ", batch " +
                     *job.cell["batch-size"] + ", " +
                     *job.cell.recorded(plan::axis_named("device"));
  if (has_datasets) name += ", " + job.data.string();
  if (has_copies) name += ", copy " + std::to_string(job.copy);
  return name + ")";
}

// Folders as they were first typed: `data` and `./data/` are one dataset, which is opened once. By
// their names alone: nobody watches yet whether the storage answers.
class FirstTyped {
 public:
  std::filesystem::path of(const std::filesystem::path& data) {
    if (data.empty()) return data;  // none was typed, which is refused where it is needed
    const auto folder = (std::filesystem::absolute(data) / "").lexically_normal();
    return typed_.try_emplace(folder, data).first->second;
  }

 private:
  std::map<std::filesystem::path, std::filesystem::path> typed_;
};

// Each cell of each table, `copies` times. Jobs are alike whose records are of one cell, however it
// was typed, and of one dataset.
std::vector<session::PlannedJob> jobs_of(CLI::App& app, JobsCommand& command) {
  std::vector<session::PlannedJob> jobs;
  FirstTyped datasets;
  std::map<std::pair<std::string, std::filesystem::path>, std::size_t> first_of;
  for (const CellGroup& group : cell_groups_of(app, command.experiment)) {
    const std::filesystem::path data = datasets.of(group.data);
    for (const plan::Cell& cell : group.cells) {
      refuse_what_cannot_go_on(cell);
      const std::size_t first = first_of.try_emplace({cell.id(), data}, jobs.size()).first->second;
      auto copy = static_cast<int>(std::ranges::count(jobs, first, &session::PlannedJob::first));
      for (int i = 0; i < command.copies; ++i)
        jobs.push_back({.cell = cell, .data = data, .first = first, .copy = ++copy, .name = {}});
    }
  }
  if (jobs.size() < 2) {
    throw UsageError("feedrate jobs", "starts several trainings at once, these options make one",
                     "give several values of an axis, --copies N, or [[sweep]] tables in --config");
  }
  const bool has_datasets = std::ranges::any_of(
      jobs, [&](const session::PlannedJob& job) { return job.data != jobs.front().data; });
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const bool has_copies = std::ranges::any_of(jobs, [&](const session::PlannedJob& job) {
      return job.first == jobs[i].first && job.copy > 1;
    });
    jobs[i].name = name_of(jobs[i], i + 1, has_datasets, has_copies);
  }
  return jobs;
}

int run_jobs(CLI::App& app, JobsCommand& command) {
  session::refuse_launchers("feedrate jobs", "starts its jobs itself");
  const std::vector<session::PlannedJob> jobs = jobs_of(app, command);
  run::RunLimits& limits = command.experiment.run.limits;
  if (app.count("--max-seconds") == 0) limits.max_seconds = kLongest * limits.min_seconds;
  text::LiveWatcher watcher(command.experiment.run.qualify);
  const auto finished = [&](const ledger::Record& record, const nlohmann::ordered_json& json,
                            const std::string& title) {
    watcher.logs(text::result_line(record, title));
    if (command.json) text::print_json(json);
  };
  session::Session session(command.experiment, {}, std::nullopt, watcher);
  session::JobsRun measuring(session, jobs, command.repetitions, finished);
  measuring.check();
  if (command.dry_run) {
    for (const session::PlannedJob& job : jobs) std::printf("%s\n", job.name.c_str());
    return 0;
  }
  session.open_ledger({}, /*resume=*/false);
  const session::JobsOutcome outcome = measuring.measure();
  const std::size_t measured = outcome.repetitions.size();
  if (!command.json && measured > 0) std::fputs(text::jobs_text(jobs, outcome).c_str(), stdout);
  if (session.is_stopped()) {
    std::fflush(stdout);
    const std::string when =
        measured > 0 ? format(" after %zu of %d repetitions", measured, command.repetitions) : "";
    std::fprintf(stderr, "feedrate: interrupted%s\n", when.c_str());
    return session.exit_code(1);
  }
  return session.exit_code(outcome.all_measured() ? 0 : 1);
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
  app->get_option("--max-seconds")->default_str(format("%g * min-seconds", kLongest));
  app->add_option("--copies", command->copies, "start each job so many times")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app->add_option("--repetitions", command->repetitions,
                  "measure all of them so often, alone and together: 1 for a look, 6 or more to "
                  "publish")
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
