#include "plan/expand.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "base/error.h"
#include "device/registry.h"
#include "plan/axes.h"

namespace feedrate::plan {
namespace {

bool applies(const Axis& axis, const Cell& typed) {
  if (!axis.ceiling && axis.name != "data" && typed.is("data", "synthetic")) return false;
  return axis.applies == nullptr || axis.applies(typed);
}

bool holds(const Condition& condition, const Cell& cell) {
  const auto& value = cell[condition.axis];
  const std::string_view compared = !value ? ""
                                    : condition.axis == "device"
                                        ? device::split_device(*value).first
                                        : std::string_view(*value);
  return (std::ranges::find(condition.values, compared) != condition.values.end()) ==
         condition.among;
}

// "--resize-filter area and --loader dali": what of the cell the refusal is about. A condition that
// holds by default is not named.
std::string named(const std::vector<Condition>& conditions, const Cell& cell) {
  std::string text;
  for (const Condition& condition : conditions) {
    const auto& value = cell[condition.axis];
    if (!value || *value == axis_named(condition.axis).fallback) continue;
    text.append(text.empty() ? "" : " and ").append("--").append(condition.axis);
    text.append(" ").append(*value);
  }
  return text;
}

void refuse_what_cannot_be(const Cell& cell) {
  for (const Axis& axis : axes()) {
    for (const Refusal& refusal : axis.refusals) {
      if (!cell.is(axis.name, refusal.value)) continue;
      const auto in_cell = [&](const Condition& condition) { return holds(condition, cell); };
      if (!std::ranges::all_of(refusal.with, in_cell)) continue;
      throw UsageError(
          "--" + std::string(axis.name) + " " + std::string(refusal.value),
          "cannot be used with " + named(refusal.with, cell) + ": " + std::string(refusal.reason),
          refusal.remedy);
    }
  }
}

// `auto` and `native` become what they stand for, axes that do not concern the cell become null.
Cell resolve(const Cell& typed) {
  Cell cell;
  for (const Axis& axis : axes()) {
    if (!applies(axis, typed)) continue;
    const std::string& value = *typed[axis.name];
    cell.set(axis.name, axis.resolved ? axis.resolved(value, typed) : value);
  }
  refuse_what_cannot_be(cell);
  return cell;
}

}  // namespace

std::vector<Cell> expand(const AxisValues& chosen) {
  for (const auto& [name, values] : chosen) axis_named(name);
  std::vector<Cell> product(1);
  for (const Axis& axis : axes()) {
    const auto found = chosen.find(axis.name);
    const std::vector<std::string> values =
        found == chosen.end() ? std::vector{std::string(axis.fallback)} : found->second;
    std::vector<Cell> next;
    for (const Cell& cell : product) {
      for (const std::string& value : values) {
        next.push_back(cell);
        next.back().set(axis.name, axis.canonical(axis, value));
      }
    }
    product = std::move(next);
  }
  std::vector<Cell> cells;
  std::set<std::string> ids;  // a trace may have two names, and is one device
  for (const Cell& typed : product) {
    Cell cell = resolve(typed);
    if (ids.insert(cell.id()).second) cells.push_back(std::move(cell));
  }
  return cells;
}

Cell ceiling_of(const Cell& cell) {
  Cell ceiling;
  for (const Axis& axis : axes()) {
    if (axis.ceiling) ceiling.set(axis.name, cell[axis.name]);
  }
  ceiling.set("data", "synthetic");
  return ceiling;
}

}  // namespace feedrate::plan
