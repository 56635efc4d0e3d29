#include "plan/suite.h"

#include <toml++/toml.h>

#include <sstream>

#include "base/error.h"

namespace feedrate::plan {
namespace {

[[noreturn]] void refuse_node(const std::filesystem::path& file, const toml::node& node,
                              const std::string& reason) {
  throw UsageError(file.string() + ":" + std::to_string(node.source().begin.line), reason,
                   "a key takes a string, a number, a boolean or an array of them");
}

std::string scalar(const std::filesystem::path& file, const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto whole = node.value_exact<std::int64_t>()) return std::to_string(*whole);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "on" : "off";
  if (const auto real = node.value_exact<double>()) {
    std::ostringstream text;
    text << *real;
    return text.str();
  }
  refuse_node(file, node, "is no value of an option");
}

std::vector<std::string> values(const std::filesystem::path& file, const toml::node& node) {
  std::vector<std::string> all;
  if (const toml::array* array = node.as_array()) {
    for (const toml::node& item : *array) all.push_back(scalar(file, item));
    if (all.empty()) refuse_node(file, node, "is an empty list");
  } else {
    all.push_back(scalar(file, node));
  }
  return all;
}

AxisValues table_values(const std::filesystem::path& file, const toml::table& table,
                        KeyLines& lines) {
  AxisValues all;
  for (const auto& [key, node] : table) {
    if (key.str() == "sweep") continue;
    all[std::string(key.str())] = values(file, node);
    lines[std::string(key.str())] = static_cast<int>(node.source().begin.line);
  }
  return all;
}

}  // namespace

Suite read_suite(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file))
    throw UsageError(file.string(), "does not exist", "give a TOML file: --config FILE");
  if (std::filesystem::is_directory(file))
    throw UsageError(file.string(), "is a folder", "give a TOML file: --config FILE");
  toml::table top;
  try {
    top = toml::parse_file(file.string());
  } catch (const toml::parse_error& error) {
    throw UsageError(file.string() + ":" + std::to_string(error.source().begin.line),
                     std::string(error.description()));
  }
  Suite suite;
  suite.defaults = table_values(file, top, suite.lines);
  if (const toml::node* sweeps = top.get("sweep")) {
    if (!sweeps->is_array_of_tables())
      refuse_node(file, *sweeps, "`sweep` is no list of tables: write [[sweep]]");
    for (const toml::node& table : *sweeps->as_array())
      suite.sweeps.push_back(
          table_values(file, *table.as_table(), suite.sweep_lines.emplace_back()));
  }
  return suite;
}

}  // namespace feedrate::plan
