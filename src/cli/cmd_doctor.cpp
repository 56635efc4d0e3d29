#include <cstdio>
#include <memory>

#include "cli/cells.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/python_report.h"
#include "machine/doctor.h"

namespace feedrate::cli {
namespace {

void print_finding(const machine::Finding& finding) {
  const char* const mark = finding.mark == machine::Mark::ok     ? "ok"
                           : finding.mark == machine::Mark::note ? "note"
                                                                 : "MISSING";
  std::printf("%-8s %-14s %s\n", mark, finding.what.c_str(), finding.finding.c_str());
  if (!finding.remedy.empty()) std::printf("%-23s -> %s\n", "", finding.remedy.c_str());
}

int look_at_all(CLI::App& app, session::ExperimentOptions& experiment) {
  bool lacks_something = false;
  const auto tell = [&](const machine::Finding& finding) {
    print_finding(finding);
    lacks_something = lacks_something || finding.mark == machine::Mark::missing;
  };
  machine::look_at_machine(tell);
  machine::look_at_gpus(tell);
  machine::look_at_training(tell);
  machine::look_at_report(report_python(), tell);
  run::RunOptions options = experiment.run;
  options.data = experiment.data;
  if (machine::look_at_data(options, tell) && names_cells(experiment)) {
    const auto cells = cells_of(app, experiment);  // fills in what a run is told
    machine::look_at_sweep(cells, experiment.run, tell);
  }
  return lacks_something ? 1 : 0;
}

}  // namespace

CommandEntry add_doctor(CLI::App& program) {
  const auto experiment = std::make_shared<session::ExperimentOptions>();
  CLI::App* app = program.add_subcommand(
      "doctor", "What this machine has, what is missing, what would spoil a measurement");
  add_experiment_options(*app, *experiment, "Axes of a sweep that is planned");
  return {app, [=] { return look_at_all(*app, *experiment); }};
}

}  // namespace feedrate::cli
