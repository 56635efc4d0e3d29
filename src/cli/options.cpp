#include "cli/options.h"

#include "base/closest.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "cli/limit_options.h"
#include "cli/quantity.h"
#include "plan/axes.h"

namespace feedrate::cli {

static std::string help_of(const plan::Axis& axis, const AxisDefaults& defaults) {
  std::string help(axis.help);
  if (!axis.values.empty()) help += ": " + listed(axis.values, &plan::AxisValue::value);
  const auto other = defaults.find(std::string(axis.name));
  return help + " [" + (other == defaults.end() ? std::string(axis.fallback) : other->second) + "]";
}

void add_experiment_options(CLI::App& command, session::ExperimentOptions& options,
                            const std::string& axes, const AxisDefaults& defaults) {
  for (const plan::Axis& axis : plan::axes()) {
    command
        .add_option("--" + std::string(axis.name), options.axes[std::string(axis.name)],
                    help_of(axis, defaults))
        ->delimiter(',')
        ->type_name("VALUE")
        ->group(axes);
  }
  command
      .add_option(
          "--where", options.where,
          "keep only cells that meet this condition: AXIS=VALUE[,VALUE...], also != < <= > >=; "
          "join alternatives by ` or `; give it several times to require all")
      ->type_name("CONDITION")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option("--dataset", options.data,
                  "folder that `feedrate gen` made, or one of your own pictures, which are read as "
                  "they lie")
      ->type_name("DIR");
  command
      .add_option("--samples", options.run.samples,
                  "read only N samples, spread evenly over the classes")
      ->type_name("N")
      ->check(CLI::Validator(
          [](std::string& typed) -> std::string {
            return number_from<std::uint64_t>(typed).value_or(0) > 0
                       ? ""
                       : typed + " is not a whole number above 0";
          },
          ""));
  options.run.listing_run = unique_name();
  command.add_flag("--relist", options.run.relist,
                   "list a folder of your own anew, whatever is kept of an earlier listing");
  command.add_option("--config", options.config, "TOML file of options and [[sweep]] tables")
      ->type_name("FILE");
  command.add_flag("--anonymize", options.anonymize,
                   "leave host and user names and paths out of the records");
  add_seed_option(command, options.run.seed,
                  "seed of weights, shuffling, crops and the order of cells");
  add_limit_options(command, options.run.limits);
}

void set_defaults(session::ExperimentOptions& options, const AxisDefaults& defaults) {
  if (!options.config.empty()) return;
  for (const auto& [axis, value] : defaults) {
    if (options.axes[axis].empty()) options.axes[axis] = {value};
  }
}

void add_output_option(CLI::App& command, std::filesystem::path& output, const std::string& help) {
  command.add_option("-o,--output", output, help)->type_name("DIR");
}

void add_verbosity_options(CLI::App& command, session::ExperimentOptions& options,
                           const std::string& more) {
  CLI::Option* const quietly =
      command.add_flag("-q,--quiet", options.quiet, "no progress: the result and errors alone");
  command.add_flag("-v,--verbose", options.verbose, more)->excludes(quietly);
}

void add_qualify_option(CLI::App& command, bool& qualify) {
  command.add_flag(
      "--qualify", qualify,
      "first try out the device's ways of making a step, also where that was done "
      "before, and print what each gains, and the rate over batch sizes (cuda; cpu: shown, "
      "not used)");
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  return names;
}

std::string option_meant(const std::string& name, const CLI::App& command,
                         const std::string& dashes) {
  const auto called = plan::axis_called(name);
  if (called && command.get_option_no_throw("--" + *called))
    return "did you mean " + dashes + *called + "?";
  std::vector<std::string> names = option_names(command);
  for (std::string& known : names) known.insert(0, dashes);
  return did_you_mean(dashes + name, names);
}

}  // namespace feedrate::cli
