#include "cli/options.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>
#include <string>

#include "base/closest.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/stored_size.h"
#include "device/default_device.h"
#include "machine/environment.h"
#include "machine/hardware.h"
#include "plan/axes.h"
#include "plan/suite.h"
#include "plan/where.h"
#include "ranks/launch.h"

namespace feedrate::cli {
namespace {

std::string help_of(const plan::Axis& axis, const std::map<std::string, std::string>& defaults) {
  std::string help(axis.help);
  if (!axis.values.empty()) help += ": " + listed(axis.values, &plan::AxisValue::value);
  const auto other = defaults.find(std::string(axis.name));
  return help + " [" + (other == defaults.end() ? std::string(axis.fallback) : other->second) + "]";
}

// No axes, but they may stand in a [[sweep]] table too; the second one in those of `jobs`.
constexpr const char* kWhere = "where";
constexpr const char* kDataset = "dataset";

bool is_axis(std::string_view name) {
  return std::any_of(plan::axes().begin(), plan::axes().end(),
                     [&](const plan::Axis& axis) { return axis.name == name; });
}

// ":12", as compilers have it.
std::string at_line(const plan::KeyLines& lines, const std::string& key) {
  const auto found = lines.find(key);
  return found == lines.end() ? "" : ":" + std::to_string(found->second);
}

// CLI11's own range checks print the largest double in full.
CLI::Validator number_that(const std::string& wanted, bool (*holds)(double, double), double bound) {
  return CLI::Validator(
      [=](std::string& typed) -> std::string {
        double value = 0;
        const auto [end, error] = std::from_chars(typed.data(), typed.data() + typed.size(), value);
        const bool good =
            error == std::errc{} && end == typed.data() + typed.size() && holds(value, bound);
        if (good && std::isinf(value)) return typed + " has no end";
        return good ? "" : typed + " is not a number " + wanted;
      },
      "");
}
CLI::Validator at_least(double bound) {
  return number_that(
      "of at least " + CLI::detail::to_string(bound), [](double v, double b) { return v >= b; },
      bound);
}
CLI::Validator above(double bound) {
  return number_that(
      "above " + CLI::detail::to_string(bound), [](double v, double b) { return v > b; }, bound);
}

// CLI11 takes -1 of an unsigned number for the largest.
CLI::Validator whole() {
  return CLI::Validator(
      [](std::string& typed) -> std::string {
        const bool is_negative = typed.starts_with('-');
        return is_negative ? typed + " is not a whole number of at least 0" : "";
      },
      "");
}

// A value from the config for an option that is no axis; the command line wins.
void set_option(CLI::App& command, const std::string& file, const std::string& name,
                const std::vector<std::string>& values) {
  CLI::Option* option = command.get_option_no_throw("--" + name);
  if (!option || name == "config" || name == "help") {
    const std::string meant = did_you_mean(name, option_names(command));
    throw UsageError(file + ": " + name, "is neither an axis nor an option",
                     meant.empty() ? "`feedrate sweep --help` lists both" : meant);
  }
  if (option->count() > 0) return;
  try {
    for (const std::string& value : values) option->add_result(value);
    option->run_callback();
  } catch (const CLI::Error& error) {
    throw UsageError(file, error.what());
  }
}

// What a file says is checked before flags are laid over it, so that an error can name the file.
void check_axes(const std::string& file, const plan::AxisValues& chosen,
                const plan::KeyLines& lines) {
  for (const auto& [name, values] : chosen) {
    if (name == kWhere) continue;
    const std::string place = file + at_line(lines, name);
    if (!is_axis(name)) {
      const std::string meant = did_you_mean(name, plan::axis_names());
      throw UsageError(
          place + ": " + name, "is no axis",
          meant.empty() ? "other options go to the top of the file, above [[sweep]]" : meant);
    }
    try {
      for (const std::string& value : values)
        plan::axis_named(name).canonical(plan::axis_named(name), value);
    } catch (const UsageError& error) {
      throw UsageError(place, error.what());
    }
  }
}

void add_limit_options(CLI::App& command, run::RunLimits& limits) {
  const char* const group = "How long to measure";
  command
      .add_option("--warmup-seconds", limits.warmup_seconds,
                  "shortest warm-up; it ends when the steps are steady")
      ->capture_default_str()
      ->check(at_least(0))
      ->group(group);
  command
      .add_option(
          "--max-warmup-seconds", limits.max_warmup_seconds,
          "longest warm-up, in pairs at most three times --warmup-seconds; then measure, flagged "
          "`unsteady` or `short_warmup`")
      ->capture_default_str()
      ->check(at_least(0))
      ->group(group);
  command
      .add_option("--min-seconds", limits.min_seconds,
                  "shortest measured window; in pairs, with the ceiling's blocks and what settles")
      ->capture_default_str()
      ->check(above(0))
      ->group(group);
  command
      .add_option("--min-steps", limits.min_steps,
                  "fewest steps of the measured window, in pairs of the cell's blocks")
      ->capture_default_str()
      ->check(above(0))
      ->group(group);
  command
      .add_option("--stall-seconds", limits.stall_seconds, "a read that takes longer ends its cell")
      ->capture_default_str()
      ->check(above(0))
      ->group(group);
  command
      .add_option("--max-seconds", limits.max_seconds,
                  "longest measured window; one pair is always measured (run, sweep: twice "
                  "--min-seconds if that is longer)")
      ->capture_default_str()
      ->check(above(0))
      ->group(group);
}

}  // namespace

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  return names;
}

void add_stall_option(CLI::App& command, double& seconds) {
  command.add_option("--stall-seconds", seconds, "storage that does nothing for longer ends it")
      ->capture_default_str()
      ->check(above(0));
}

void add_qualify_option(CLI::App& command, bool& qualify) {
  command.add_flag(
      "--qualify", qualify,
      "first try out the device's ways of making a step, also where that was done "
      "before, and print what each gains, and the rate over batch sizes (cuda; cpu: shown, "
      "not used)");
}

void add_talk_options(CLI::App& command, bool& quiet, bool& verbose, const std::string& more) {
  CLI::Option* const quietly =
      command.add_flag("-q,--quiet", quiet, "no progress: the result and errors alone");
  command.add_flag("-v,--verbose", verbose, more)->excludes(quietly);
}

void add_seed_option(CLI::App& command, std::uint64_t& seed, const std::string& help) {
  command.add_option("--seed", seed, help)->capture_default_str()->check(whole());
}

void add_experiment_options(CLI::App& command, session::ExperimentOptions& options,
                            const std::string& axes,
                            const std::map<std::string, std::string>& defaults) {
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
      .add_option(
          "--dataset", options.data,
          "folder that `feedrate gen` made, or one of your own pictures (--image-size mixed)")
      ->type_name("DIR");
  command.add_option("--config", options.config, "TOML file of options and [[sweep]] tables")
      ->type_name("FILE");
  command.add_flag("--anonymize", options.anonymize,
                   "leave host and user names and paths out of the records");
  add_seed_option(command, options.run.seed,
                  "seed of weights, shuffling, crops and the order of cells");
  add_limit_options(command, options.run.limits);
}

static std::vector<plan::Cell> where(std::vector<plan::Cell> cells,
                                     const std::vector<std::string>& conditions) {
  for (const std::string& text : conditions)
    std::erase_if(cells, [condition = plan::Where(text)](const plan::Cell& cell) {
      return !condition.holds(cell);
    });
  return cells;
}

// A table's own dataset; nothing where it has none.
static std::optional<std::filesystem::path> own_dataset(const std::string& file,
                                                        plan::AxisValues& table) {
  const auto own = table.extract(kDataset);
  if (!own) return std::nullopt;
  if (own.mapped().size() != 1)
    throw UsageError(file + ": " + kDataset, "is one folder", "write a [[sweep]] table for each");
  return own.mapped().front();
}

// Whether cells have the device that takes the place of a GPU, and nobody named it.
static bool is_stood_in_for(const plan::AxisValues& chosen, const std::vector<plan::Cell>& cells) {
  const auto typed = chosen.find("device");
  if (typed != chosen.end() && std::ranges::find(typed->second, "auto") == typed->second.end())
    return false;
  const device::DefaultDevice stands = device::default_device();
  return !stands.why_no_gpu.empty() && std::ranges::any_of(cells, [&](const plan::Cell& cell) {
    return cell.is("device", stands.name);
  });
}

static void say_what_stands_in() {
  const device::DefaultDevice stands = device::default_device();
  std::fprintf(stderr, "feedrate: %s: using %s (--device cpu trains for real)\n",
               stands.why_no_gpu.c_str(), stands.name.c_str());
}

// An emulated device has the precision of the rate that was published of it.
static void check_precision_counts(const std::vector<CellGroup>& groups,
                                   const std::vector<std::string>& typed) {
  if (typed.empty()) return;
  for (const CellGroup& group : groups)
    for (const plan::Cell& cell : group.cells)
      if (cell["precision"]) return;
  throw UsageError("--precision " + typed.front(),
                   "concerns no cell here: an emulated device keeps to its rate",
                   "leave it out, or use --device cuda or cpu");
}

// Ranks that a launcher has started look each by itself, and all have to find the same.
static std::optional<StoredSize> size_stored_in(const std::filesystem::path& data,
                                                const std::set<std::string>& kinds) {
  const bool is_rank = ranks::launch_of(environment_variable).has_value();
  const std::chrono::seconds patience(is_rank ? 60 : 2);
  const StoredSizeLook look = look_for_stored_size(data, kinds, patience);
  if (is_rank && !look.is_answered)
    throw Error(data.string(), "its storage did not answer within a minute",
                "see that each rank can read it, or name the size: --image-size");
  return look.only;
}

// Who names no size, of a dataset that holds only one, means that one. Returns what was filled in,
// for the user; empty: nothing.
static std::string fill_in_the_only_size(plan::AxisValues& chosen,
                                         const std::filesystem::path& data) {
  const auto of = [&](const char* axis, const char* otherwise) {
    const auto found = chosen.find(axis);
    return found == chosen.end() ? std::vector<std::string>{otherwise} : found->second;
  };
  if (data.empty() || chosen.contains("image-size")) return "";
  std::set<std::string> kinds;
  for (const std::string& kind : of("data", "synthetic"))
    for (const std::string& container : of("container", "files"))
      if (kind != "synthetic" && kind != "tensor")
        kinds.insert(container == "files" ? kind : kind + "." + container);
  if (kinds.empty()) return "";
  const auto only = size_stored_in(data, kinds);
  if (!only || (only->size == "224x224" && only->detail.empty())) return "";
  std::string filled = "--image-size " + only->size;
  chosen["image-size"] = {only->size};
  if (!only->detail.empty() && !chosen.contains("detail")) {
    chosen["detail"] = {only->detail};
    filled += " --detail " + only->detail;
  }
  return filled + (only->made ? ", as nothing else is in " + data.string()
                              : ", as `feedrate gen` did not make " + data.string());
}

static std::string build_and_cpu() {
  return std::string(machine::version()) + " " + machine::binary_hash() + " on " +
         machine::cpu_json().value("model", "");
}

// Whoever gives one of the two means the other to go with it.
static void fit_window_limits(const CLI::App& command, run::RunLimits& limits) {
  constexpr double kLongest = 2;  // times the shortest: for a queue that comes to rest late
  const CLI::Option &least = *command.get_option("--min-seconds"),
                    &most = *command.get_option("--max-seconds");
  if (least.count() > 0 && most.count() > 0 && limits.min_seconds > limits.max_seconds)
    throw UsageError("--max-seconds " + most.as<std::string>(),
                     "is shorter than --min-seconds " + least.as<std::string>(),
                     "give only one of them, or a longest window that the shortest fits into");
  if (most.count() == 0)
    limits.max_seconds = std::max(limits.max_seconds, kLongest * limits.min_seconds);
  if (least.count() == 0)
    limits.min_seconds = std::min(limits.min_seconds, limits.max_seconds / kLongest);
}

// `own_datasets`: whether tables may name one.
static std::vector<CellGroup> groups_of(CLI::App& command, session::ExperimentOptions& options,
                                        bool own_datasets) {
  const bool is_typed = command.count("--dataset") > 0;
  const std::string file = options.config.string();
  plan::Suite suite;
  if (!options.config.empty()) suite = plan::read_suite(options.config);
  plan::AxisValues base;
  for (const auto& [key, values] : suite.defaults) {
    if (is_axis(key)) {
      base[key] = values;
    } else {
      set_option(command, file + at_line(suite.lines, key), key, values);
    }
  }
  fit_window_limits(command, options.run.limits);
  options.run.data = options.data;
  options.run.build = build_and_cpu;
  if (suite.sweeps.empty()) suite.sweeps.emplace_back(), suite.sweep_lines.emplace_back();
  std::vector<CellGroup> groups;
  for (plan::AxisValues& table : suite.sweeps) {
    const auto own = own_datasets ? own_dataset(file, table) : std::nullopt;
    groups.push_back({{}, own && !is_typed ? *own : options.data});
  }
  check_axes(file, base, suite.lines);
  for (std::size_t i = 0; i < suite.sweeps.size(); ++i)
    check_axes(file, suite.sweeps[i], suite.sweep_lines[i]);
  bool has_cells = false, stands_in = false, names_data = false;
  std::set<std::string> said;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    plan::AxisValues chosen = base;
    for (const auto& [axis, values] : suite.sweeps[i]) chosen[axis] = values;
    for (const auto& [axis, values] : options.axes) {
      if (!values.empty()) chosen[axis] = values;
    }
    names_data = names_data || chosen.contains("data");
    const std::string filled = fill_in_the_only_size(chosen, groups[i].data);
    if (!filled.empty() && !options.quiet && said.insert(filled).second)
      std::fprintf(stderr, "feedrate: %s\n", filled.c_str());
    std::vector<std::string> conditions = options.where;
    if (const auto own = chosen.extract(kWhere))
      conditions.insert(conditions.end(), own.mapped().begin(), own.mapped().end());
    groups[i].cells = where(plan::expand(chosen), conditions);
    has_cells = has_cells || !groups[i].cells.empty();
    stands_in = stands_in || is_stood_in_for(chosen, groups[i].cells);
  }
  if (!has_cells)
    throw UsageError("--where", "leaves no cell",
                     "see the plan without it: `feedrate sweep --dry-run`");
  check_precision_counts(groups, options.axes["precision"]);
  if (is_typed && !names_data) {
    throw UsageError("--dataset " + options.data.string(),
                     "is not read: nothing says what of it to load",
                     "add --data jpeg (or png, tensor ...; synthetic reads nothing)");
  }
  if (stands_in && !options.quiet) say_what_stands_in();
  return groups;
}

std::vector<CellGroup> cell_groups_of(CLI::App& command, session::ExperimentOptions& options) {
  return groups_of(command, options, /*own_datasets=*/true);
}

std::vector<plan::Cell> cells_of(CLI::App& command, session::ExperimentOptions& options) {
  std::vector<plan::Cell> cells;
  std::set<std::string> ids;
  for (CellGroup& group : groups_of(command, options, /*own_datasets=*/false)) {
    for (plan::Cell& cell : group.cells) {
      if (ids.insert(cell.id()).second) cells.push_back(std::move(cell));
    }
  }
  return cells;
}

}  // namespace feedrate::cli
