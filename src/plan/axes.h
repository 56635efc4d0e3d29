#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate::plan {

class Cell;
struct CellSettings;
struct Axis;

// One value that an axis takes, with the line that `feedrate list` shows for it.
struct AxisValue {
  std::string_view value;
  std::string_view help;
};

// Holds for a cell whose `axis` has one of `values`; with `among` false, none of them. The device
// is compared by its kind: "emulated" holds for "emulated:a100".
struct Condition {
  std::string_view axis;
  std::vector<std::string_view> values;
  bool among = true;
};

// A combination that is refused: `value` of a row's axis in a cell for which all conditions hold.
struct Refusal {
  std::string_view value;
  std::vector<Condition> with;
  std::string_view reason, remedy;
};

// How a cell's label shows a value: where, by position, and in which words.
struct AxisLabel {
  int position = kNever;
  std::string (*words)(std::string_view value, const Cell& cell) = nullptr;  // null: ", NAME VALUE"
  bool always = false;  // else only where the value differs from Axis::usual
  static constexpr int kNever = -1;
};

// One thing that a run can vary. Its row of the table in axes.cpp defines it completely: flags,
// --config, suites, --help, `feedrate list`, cells, their settings and labels, the ledger and the
// report are made from the row.
struct Axis {
  std::string_view name;      // flag without dashes, key in TOML and in the ledger
  std::string_view help;      // one line
  std::string_view fallback;  // the value when none is given
  std::vector<AxisValue> values;

  // One spelling of the value. Throws UsageError naming the axis and what it takes; an Error for a
  // file that it names and that cannot be read.
  std::string (*canonical)(const Axis& axis, const std::string& typed);
  bool number = false;   // an integer in the ledger
  bool pixels = false;   // a size, "WxH": --where compares how many pixels
  bool ceiling = false;  // cells that differ in it have different ceilings
  // Whether the axis concerns a cell, which still has a value for every axis. Null: it always does.
  // An axis whose `ceiling` is false never concerns a synthetic cell.
  bool (*applies)(const Cell& cell) = nullptr;
  // What a typed value ("auto", "native") stands for in a cell, which has every axis as typed.
  // Null: for itself.
  std::string (*resolved)(const std::string& value, const Cell& cell) = nullptr;
  // The value as it stands in records and in the cell's id. Null: as it is.
  std::string (*recorded)(const std::string& value) = nullptr;
  std::string_view usual;  // what a label leaves out, once resolved
  // On `cuda`, `auto` stays: the device finds out what it stands for (device/qualify.h), and the
  // record says so. Another machine's cell then is the same cell.
  bool open = false;
  // Its typed field.
  void (*set)(CellSettings& settings, const std::string& value);
  AxisLabel label;
  std::vector<Refusal> refusals;
};

// In canonical order: the order of the ledger, of cell_id and of --help. Thread-safe, immutable.
std::span<const Axis> axes();
std::vector<std::string> axis_names();
const Axis& axis_named(std::string_view name);  // throws UsageError
// The axis that other programs call so, "num_workers" or "batch". Nothing: none that is known.
std::optional<std::string> axis_called(std::string_view name);
// "did you mean workers?", of a name that is no axis: as above, else by its letters. May be empty.
std::string axis_meant(std::string_view name);

}  // namespace feedrate::plan
