#pragma once
#include <filesystem>

#include <vector>

#include "plan/expand.h"

namespace feedrate::plan {

// A TOML file: keys at the top are defaults (axes, or options of the subcommand), each [[sweep]]
// table is one product of axes. A value is a string, a number, a boolean, or an array of them.
struct Suite {
  AxisValues defaults;
  std::vector<AxisValues> sweeps;
};
Suite read_suite(const std::filesystem::path& file);  // throws UsageError with the line

}  // namespace feedrate::plan
