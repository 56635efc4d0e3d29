#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/result_text.h"
#include "cli/signals.h"
#include "diagnose/verdict.h"
#include "experiment/anonymize.h"
#include "experiment/environment.h"
#include "experiment/ledger.h"
#include "experiment/record.h"
#include "measure/error.h"

namespace feedrate {
namespace {

struct RunCommand {
  ExperimentOptions experiment;
  bool json = false;
  bool no_ceiling = false;
};

class LiveRun {
 public:
  LiveRun(const RunCommand& command, CellRunner& runner, const SignalWatcher& signals)
      : command_(command), runner_(runner), signals_(signals),
        environment_(capture_environment(command.experiment.data, command.experiment.config)) {}

  nlohmann::ordered_json measure(const Cell& cell, const char* role, std::optional<double> ceiling) {
    line_.show(cell.label() + ": preparing");
    const auto progress = [&](const RunProgress& p) { line_.show(cell.label() + ": " + describe(p, ceiling)); };
    const CellResult result = runner_.run(cell, progress, signals_.token());
    line_.clear();
    auto record = make_record(result, {role, 0, order_++, ceiling}, command_.experiment.run, environment_);
    add_verdict(record);
    if (command_.experiment.anonymize) {
      Anonymizer(command_.experiment.data, command_.experiment.output, command_.experiment.config).apply(record);
    }
    return record;
  }

 private:
  const RunCommand& command_;
  CellRunner& runner_;
  const SignalWatcher& signals_;
  const nlohmann::ordered_json environment_;
  ProgressLine line_;
  int order_ = 0;
};

int run(CLI::App& app, RunCommand& command) {
  const auto launch = find_launch(command.experiment);
  const std::vector<Cell> cells = cells_of(app, command.experiment);
  if (cells.size() != 1) {
    throw UsageError("feedrate run", "measures one cell, these options make " + std::to_string(cells.size()),
                     "give one value for each axis, or use `feedrate sweep`");
  }
  if (launch && launch->rank > 0) return follow(*launch, cells, command.experiment.run);
  const SignalWatcher signals;
  const auto ranks = open_ranks(launch, cells, command.experiment.run, signals.token());
  if (!ranks) return signals.exit_code(1);
  AcceleratorRegistry registry;
  CellRunner runner(command.experiment.run, registry, ranks.get());
  runner.check(cells[0]);
  std::unique_ptr<Ledger> ledger;
  if (!command.experiment.output.empty()) ledger = std::make_unique<Ledger>(command.experiment.output, false);
  LiveRun live(command, runner, signals);
  std::optional<double> ceiling;
  if (!command.no_ceiling && !cells[0].is("data", "synthetic")) {
    auto record = live.measure(ceiling_of(cells[0]), "ceiling", std::nullopt);
    if (ledger) record = ledger->append(std::move(record));
    if (record["status"] == "ok") ceiling = record["imgs_per_s"];
    if (record["status"] == "failed") {  // the cell would fail in the same way, or stand without its ceiling
      throw Error("the ceiling", record["error"].get<std::string>(), "measure without it: --no-ceiling");
    }
  }
  if (signals.token().stop_requested()) return signals.exit_code(1);
  auto record =
      live.measure(cells[0], cells[0].is("data", "synthetic") ? "ceiling" : "cell", ceiling);
  if (ledger) record = ledger->append(std::move(record));
  if (command.json) {
    std::printf("%s\n", to_line(record).c_str());
  }
  if (record["status"] == "failed") {
    std::fprintf(stderr, "feedrate: %s\n", record["error"].get<std::string>().c_str());
  } else if (!command.json) {
    std::fputs(result_text(record, cells[0].label()).c_str(), stdout);
  }
  return signals.exit_code(record["status"] == "ok" ? 0 : 1);
}

}  // namespace

CommandEntry add_run(CLI::App& program) {
  const auto command = std::make_shared<RunCommand>();
  CLI::App* app = program.add_subcommand("run", "Measure one cell, live, against its synthetic ceiling");
  add_experiment_options(*app, command->experiment);
  app->add_option("-o,--output", command->experiment.output, "also keep the record, in a new ledger in this folder")->type_name("DIR");
  app->add_flag("--no-ceiling", command->no_ceiling, "do not measure the synthetic ceiling first");
  app->add_flag("--json", command->json, "print the record as one line of JSON");
  return {app, [=] { return run(*app, *command); }};
}

}  // namespace feedrate
