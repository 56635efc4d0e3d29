#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate {

// One value that an axis can take, with the line that `feedrate list` shows for it.
struct AxisChoice {
  std::string_view value;
  std::string_view help;
};

// One thing that a run can vary. The table in axes.cpp is the only list of them: flags, --config, suites,
// --help, `feedrate list` and the ledger are all made from it.
struct Axis {
  std::string_view name;      // flag without dashes, key in TOML and in the ledger
  std::string_view help;      // one line
  std::string_view fallback;  // the value when none is given
  std::vector<AxisChoice> choices;
  bool number = false;  // an integer in the ledger
  // The value as it stands in the ledger. Throws UsageError naming the axis and what it takes.
  std::string (*canonical)(const Axis& axis, const std::string& typed) = nullptr;
};

// In canonical order: the order of the ledger, of cell_id, and of --help.
std::span<const Axis> axes();
const Axis& axis_named(std::string_view name);  // throws UsageError

}  // namespace feedrate
