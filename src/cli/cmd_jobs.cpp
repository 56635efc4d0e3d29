#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/cells.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/quantity.h"
#include "session/jobs_run.h"
#include "session/planned_jobs.h"
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

int run_jobs(CLI::App& app, JobsCommand& command) {
  session::ExperimentOptions& experiment = command.experiment;
  session::refuse_launchers("feedrate jobs", "starts its jobs itself");
  const std::vector<session::PlannedJob> jobs =
      session::plan_jobs(cell_groups_of(app, experiment, /*own_datasets=*/true), command.copies);
  run::RunLimits& limits = experiment.run.limits;
  if (app.count("--max-seconds") == 0) limits.max_seconds = kLongest * limits.min_seconds;
  text::LiveWatcher watcher(experiment.run.qualify);
  const auto finished = [&](const ledger::Record& record, const nlohmann::ordered_json& json,
                            const std::string& title) {
    watcher.logs(text::result_line(record, title));
    if (command.json) text::print_json(json);
  };
  session::Session session(experiment, {}, std::nullopt, watcher);
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
    watcher.warns("interrupted" + when);
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
  add_count(*app, "--copies", command->copies, 1, 1000, "start each job so many times");
  add_repetitions(*app, command->repetitions,
                  "measure all of them so often, alone and together: 1 for a look, 6 or more to "
                  "publish");
  add_output_option(*app, command->experiment.output,
                    "also keep the records, in a new ledger in this folder");
  app->add_flag("--dry-run", command->dry_run, "print the jobs and end");
  app->add_flag("--json", command->json, "print every record as a line of JSON instead");
  return {app, [=] { return run_jobs(*app, *command); }};
}

}  // namespace feedrate::cli
