#include <cstdio>
#include <memory>
#include <optional>

#include "base/text.h"
#include "cli/capacity_options.h"
#include "cli/commands.h"
#include "cli/limit_options.h"
#include "cli/options.h"
#include "cli/quantity.h"
#include "session/capacity_search.h"
#include "session/reads_in_flight_search.h"
#include "session/search_time.h"
#include "text/capacity_text.h"
#include "text/live_watcher.h"

namespace feedrate::cli {
namespace {

struct CapacityCommand {
  session::ExperimentOptions experiment;
  session::SearchOptions search;
  bool no_client = false;
};

int interrupted_by(int exit_code, session::Watcher& watcher) {
  watcher.warns("interrupted");
  return exit_code;
}

int capacity(CLI::App& app, CapacityCommand& command) {
  session::ExperimentOptions& experiment = command.experiment;
  const session::TypedReads typed{is_axis_typed(experiment, "workers"),
                                  is_axis_typed(experiment, "io-depth")};
  const bool is_usual_device = !is_axis_typed(experiment, "device");
  const session::SearchedCell asked = cell_to_search(app, experiment);
  set_capacity_limits(app, asked.step_s, experiment.run.limits);
  if (app.count("--max-seconds") > 0) command.search.slow_window_s = 0;
  session::refuse_old_results(experiment.output);
  text::LiveWatcher watcher(experiment.verbose);
  const double expected_s =
      session::expected_search_s(asked, session::searched_reads_axes(asked, typed),
                                 experiment.run.limits, command.search, !command.no_client);
  watcher.logs("searching how many GPUs are fed: about " + duration(expected_s) +
               ", longer where the storage is slow");
  const session::ReadsFound reads =
      session::search_reads_in_flight(asked, experiment, typed, command.search, watcher);
  if (reads.interrupted) {
    std::fputs(text::interrupted_reads_text(reads).c_str(), stdout);
    return interrupted_by(reads.interrupted, watcher);
  }
  const session::SearchedCell searched = session::searched_cell_with(asked, reads.chosen);
  command.search.imgs_per_s = session::chosen_imgs_per_s(reads);
  const session::Found found = session::search_gpus(searched, experiment, command.search, watcher);
  const text::CapacityAnswer answer(searched, reads, found);
  int interrupted = found.interrupted;
  std::optional<session::ClientLimit> client;
  if (!command.no_client && !interrupted) {
    client = session::client_limit(searched, experiment, found, command.search, watcher);
    if (client) interrupted = client->interrupted;
  }
  answer.print(client, /*own_h200=*/is_usual_device);
  if (interrupted) return interrupted_by(interrupted, watcher);
  if (client) answer.print_client(*client);
  answer.print_proviso();
  // Flags stand under the answer, as everywhere: they do not change the exit code.
  return command.no_client || client ? 0 : 1;
}

}  // namespace

CommandEntry add_capacity(CLI::App& program) {
  const auto command = std::make_shared<CapacityCommand>();
  CLI::App* app = program.add_subcommand(
      "capacity",
      "How many GPUs this storage feeds, with emulated ones: at 90 and 95 % utilisation");
  add_experiment_options(*app, command->experiment, "Axes (one value each)", shown_capacity_axes());
  show_capacity_limits(*app);
  add_output_option(*app, command->experiment.output,
                    "keep the records, in a new ledger in this folder");
  add_count(*app, "--most-gpus", command->search.most_gpus, 1, 4096, "try no more than so many");
  add_repetitions(*app, command->search.repetitions,
                  "runs on both sides of each answer and from memory, for their intervals", 100);
  app->add_flag("--no-client", command->no_client,
                "do not measure what this machine manages from memory");
  return {app, [=] { return capacity(*app, *command); }};
}

}  // namespace feedrate::cli
