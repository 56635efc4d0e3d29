#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "plan/expand.h"

namespace feedrate::plan {

// A TOML file: keys at the top are defaults (axes, or options of the subcommand), each [[sweep]]
// table is one product of axes. A value is a string, a number, a boolean, or an array of them.
using KeyLines = std::map<std::string, int, std::less<>>;  // where a key's value stands
struct Suite {
  AxisValues defaults;
  std::vector<AxisValues> sweeps;
  KeyLines lines;                     // of the defaults
  std::vector<KeyLines> sweep_lines;  // of each sweep
};
Suite read_suite(const std::filesystem::path& file);  // throws UsageError with the line

}  // namespace feedrate::plan
