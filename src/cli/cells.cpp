#include "cli/cells.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "cli/limit_options.h"
#include "cli/options.h"
#include "cli/stored_size.h"
#include "codec/any_picture.h"
#include "device/default_device.h"
#include "machine/environment.h"
#include "machine/hardware.h"
#include "plan/axes.h"
#include "plan/suite.h"
#include "plan/where.h"
#include "ranks/launch.h"
#include "storage/container.h"
#include "storage/tar_shards.h"
#include "storage/variant_name.h"

namespace feedrate::cli {
namespace {

// No axis, but a [[sweep]] table may have it: conditions on its cells.
constexpr const char* kWhere = "where";

// ":12", as compilers have it.
std::string at_line(const plan::KeyLines& lines, const std::string& key) {
  const auto found = lines.find(key);
  return found == lines.end() ? "" : ":" + std::to_string(found->second);
}

// The command line wins.
void set_option(CLI::App& command, const std::string& place, const std::string& name,
                const std::vector<std::string>& values) {
  CLI::Option* option = command.get_option_no_throw("--" + name);
  if (!option || name == "config" || name == "help") {
    const std::string meant = option_meant(name, command);
    throw UsageError(place + ": " + name, "is neither an axis nor an option",
                     meant.empty() ? "`feedrate sweep --help` lists both" : meant);
  }
  if (option->count() > 0) return;
  try {
    for (const std::string& value : values) option->add_result(value);
    option->run_callback();
  } catch (const CLI::Error& error) {
    throw UsageError(place, error.what());
  }
}

// A file's axes are checked before flags are laid over them, so that an error can name the file.
void check_axes(const std::string& file, const plan::AxisValues& chosen,
                const plan::KeyLines& lines) {
  for (const auto& [name, values] : chosen) {
    if (name == kWhere) continue;
    const std::string place = file + at_line(lines, name);
    if (!is_axis(name)) {
      const std::string meant = plan::axis_meant(name);
      throw UsageError(
          place + ": " + name, "is no axis",
          meant.empty() ? "other options go to the top of the file, above [[sweep]]" : meant);
    }
    try {
      const plan::Axis& axis = plan::axis_named(name);
      for (const std::string& value : values) axis.canonical(axis, value);
    } catch (const UsageError& error) {
      throw UsageError(place, error.what());
    }
  }
}

// Takes a table's own dataset out of it; nothing where it has none.
std::optional<std::filesystem::path> take_dataset(const std::string& file,
                                                  plan::AxisValues& table) {
  const auto own = table.extract("dataset");
  if (!own) return std::nullopt;
  if (own.mapped().size() != 1)
    throw UsageError(file + ": dataset", "is one folder", "write a [[sweep]] table for each");
  return own.mapped().front();
}

// What the file says of one product of axes: its [[sweep]] table, over what stands at the top.
struct ConfigTable {
  plan::AxisValues axes;  // and kWhere
  std::optional<std::filesystem::path> dataset{};
};

// One for each [[sweep]] table; a single one where there is none, or no file. Sets the values of
// options that are no axes on `command`. `own_datasets`: whether a table may name one.
std::vector<ConfigTable> read_config(CLI::App& command, const std::filesystem::path& path,
                                     bool own_datasets) {
  if (path.empty()) return {ConfigTable{}};
  const std::string file = path.string();
  plan::Suite suite = plan::read_suite(path);
  plan::AxisValues top;
  for (const auto& [key, values] : suite.defaults) {
    if (is_axis(key)) {
      top[key] = values;
    } else {
      set_option(command, file + at_line(suite.lines, key), key, values);
    }
  }
  check_axes(file, top, suite.lines);
  if (suite.sweeps.empty()) return {{top}};
  std::vector<ConfigTable> tables;
  for (std::size_t i = 0; i < suite.sweeps.size(); ++i) {
    plan::AxisValues& own = suite.sweeps[i];
    ConfigTable& table = tables.emplace_back();
    if (own_datasets) table.dataset = take_dataset(file, own);
    check_axes(file, own, suite.sweep_lines[i]);
    own.insert(top.begin(), top.end());  // keys that it has stay as they are
    table.axes = std::move(own);
  }
  return tables;
}

std::vector<plan::Cell> where(std::vector<plan::Cell> cells,
                              const std::vector<std::string>& conditions) {
  for (const std::string& text : conditions)
    std::erase_if(cells, [condition = plan::Where(text)](const plan::Cell& cell) {
      return !condition.holds(cell);
    });
  return cells;
}

// Which device takes the place of a GPU in these cells; empty where none does, or it was typed.
std::string stand_in_text(const plan::AxisValues& chosen, const std::vector<plan::Cell>& cells) {
  const auto typed = chosen.find("device");
  if (typed != chosen.end() && std::ranges::find(typed->second, "auto") == typed->second.end())
    return "";
  const device::DefaultDevice stands = device::default_device();
  const auto has_it = [&](const plan::Cell& cell) { return cell.is("device", stands.name); };
  if (stands.why_no_gpu.empty() || std::ranges::none_of(cells, has_it)) return "";
  return stands.why_no_gpu + ": using " + stands.name + " (--device cpu trains for real)";
}

// An emulated device has the precision of the rate that was published of it.
void check_precision_counts(const std::vector<session::CellGroup>& groups,
                            const std::vector<std::string>& typed) {
  if (typed.empty()) return;
  for (const session::CellGroup& group : groups)
    for (const plan::Cell& cell : group.cells)
      if (cell["precision"]) return;
  throw UsageError("--precision " + typed.front(),
                   "concerns no cell here: an emulated device keeps to its rate",
                   "leave it out, or use --device cuda or cpu");
}

bool names_axis(const plan::AxisValues& chosen, const std::string& axis) {
  const auto found = chosen.find(axis);
  return found != chosen.end() && !found->second.empty();
}

// Ranks that a launcher has started look each by itself, and all have to find the same.
StoredSizeLook look_into(const std::filesystem::path& data, const std::set<std::string>& kinds) {
  const bool is_rank = ranks::launch_of(environment_variable).has_value();
  const std::chrono::seconds patience(is_rank ? 60 : 2);
  const StoredSizeLook look = look_for_stored_size(data, kinds, patience);
  if (is_rank && !look.is_answered)
    throw Error(data.string(), "its storage did not answer within a minute",
                "see that each rank can read it, or name the size: --image-size");
  return look;
}

// As only_stored_size(), with what else is known.
StoredSizeLook look_for_named(const plan::AxisValues& chosen, const std::filesystem::path& data) {
  const auto of = [&](const char* axis, const char* otherwise) {
    return names_axis(chosen, axis) ? chosen.at(axis) : std::vector<std::string>{otherwise};
  };
  std::set<std::string> kinds;
  for (const std::string& kind : of("data", "synthetic"))
    for (const std::string& container : of("container", "files"))
      if (kind != "synthetic" && kind != "tensor")
        kinds.insert(container == "files" ? kind : kind + "." + container);
  return kinds.empty() ? StoredSizeLook{} : look_into(data, kinds);
}

// For all pictures, in class folders or else in tar shards. Where the axes name data, nothing is
// looked for.
StoredSizeLook look_for_own(plan::AxisValues chosen, const std::filesystem::path& data) {
  if (names_axis(chosen, "data")) return {};
  chosen["data"] = {std::string(codec::kAnyPicture)};
  if (!names_axis(chosen, "container"))
    chosen["container"] = {std::string(storage::containers().front().name),
                           std::string(storage::kShardsContainer)};
  return look_for_named(chosen, data);
}

// Lets a dataset that holds nothing to load be read as the user's own pictures: the refusal then
// says what is wrong with it.
void read_in_vain(plan::AxisValues& chosen) {
  chosen["data"] = {std::string(codec::kAnyPicture)};
  if (!names_axis(chosen, "image-size")) chosen["image-size"] = {std::string(storage::kMixedSizes)};
}

AxisDefaults own_axes_of(const StoredSizeLook& look) {
  if (!look.only || look.only->made) return {};
  AxisDefaults own = {{"data", std::string(codec::kAnyPicture)}, {"image-size", look.only->size}};
  if (look.only->is_shards) own["container"] = storage::kShardsContainer;
  return own;
}

// Without a size, the only one of the dataset is meant; without data, all pictures of a folder of
// the user's own, which `own` names. Returns what was filled in, for the user; empty: nothing.
std::string fill_in_what_is_stored(plan::AxisValues& chosen, const std::filesystem::path& data,
                                   const AxisDefaults& own) {
  std::string filled;
  const auto fill = [&](const std::string& axis, const std::string& value) {
    if (value.empty() || names_axis(chosen, axis)) return;
    chosen[axis] = {value};
    filled += (filled.empty() ? "--" : " --") + axis + " " + value;
  };
  for (const auto& [axis, value] : own) fill(axis, value);
  bool is_made = own.empty();
  if (!data.empty() && !names_axis(chosen, "image-size")) {
    const auto only = only_stored_size(chosen, data);
    if (only && !(only->size == "224x224" && only->detail.empty())) {
      is_made = only->made;
      fill("image-size", only->size);
      fill("detail", only->detail);
    }
  }
  if (filled.empty()) return "";
  return filled + (is_made ? ", as nothing else is in " : ", as `feedrate gen` did not make ") +
         data.string();
}

std::string build_and_cpu() {
  return std::string(machine::version()) + " " + machine::binary_hash() + " on " +
         machine::cpu_json().value("model", "");
}

}  // namespace

bool is_axis(std::string_view name) {
  return std::ranges::find(plan::axes(), name, &plan::Axis::name) != plan::axes().end();
}

bool names_cells(const session::ExperimentOptions& options) {
  const auto typed = [](const auto& axis) { return !axis.second.empty(); };
  return !options.config.empty() || std::ranges::any_of(options.axes, typed);
}

AxisDefaults own_folder_axes(const session::ExperimentOptions& options) {
  if (options.data.empty()) return {};
  return own_axes_of(look_for_own({options.axes.begin(), options.axes.end()}, options.data));
}

std::optional<StoredSize> only_stored_size(const plan::AxisValues& chosen,
                                           const std::filesystem::path& data) {
  return look_for_named(chosen, data).only;
}

std::vector<session::CellGroup> cell_groups_of(CLI::App& command,
                                               session::ExperimentOptions& options,
                                               bool own_datasets) {
  const bool is_typed = command.count("--dataset") > 0;
  std::vector<ConfigTable> tables = read_config(command, options.config, own_datasets);
  fit_window_limits(command, options.run.limits);
  options.run.data = options.data;
  options.run.build = build_and_cpu;
  std::vector<session::CellGroup> groups;
  bool has_cells = false, names_data = false;
  std::string stand_in;
  std::set<std::string> said;
  for (ConfigTable& table : tables) {
    plan::AxisValues& chosen = table.axes;
    for (const auto& [axis, values] : options.axes) {
      if (!values.empty()) chosen[axis] = values;
    }
    const auto data = table.dataset && !is_typed ? *table.dataset : options.data;
    StoredSizeLook look;
    if (is_typed || !data.empty()) look = look_for_own(chosen, data);
    const std::string filled = fill_in_what_is_stored(chosen, data, own_axes_of(look));
    if (is_typed && look.is_nothing_of_gens) read_in_vain(chosen);
    names_data = names_data || chosen.contains("data");
    if (!filled.empty() && !options.quiet && said.insert(filled).second)
      std::fprintf(stderr, "feedrate: %s\n", filled.c_str());
    std::vector<std::string> conditions = options.where;
    if (const auto own = chosen.extract(kWhere))
      conditions.insert(conditions.end(), own.mapped().begin(), own.mapped().end());
    groups.push_back({where(plan::expand(chosen), conditions), data});
    has_cells = has_cells || !groups.back().cells.empty();
    if (stand_in.empty()) stand_in = stand_in_text(chosen, groups.back().cells);
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
  if (!stand_in.empty() && !options.quiet) std::fprintf(stderr, "feedrate: %s\n", stand_in.c_str());
  return groups;
}

std::vector<plan::Cell> cells_of(CLI::App& command, session::ExperimentOptions& options) {
  std::vector<plan::Cell> cells;
  std::set<std::string> ids;
  for (session::CellGroup& group : cell_groups_of(command, options, /*own_datasets=*/false)) {
    for (plan::Cell& cell : group.cells) {
      if (ids.insert(cell.id()).second) cells.push_back(std::move(cell));
    }
  }
  return cells;
}

plan::Cell only_cell_of(CLI::App& command, session::ExperimentOptions& options,
                        const std::string& what, const std::string& remedy) {
  const std::vector<plan::Cell> cells = cells_of(command, options);
  if (cells.size() == 1) return cells.front();
  throw UsageError("feedrate " + command.get_name(),
                   what + ", these options make " + std::to_string(cells.size()), remedy);
}

}  // namespace feedrate::cli
