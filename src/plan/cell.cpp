#include "plan/cell.h"

#include <algorithm>
#include <vector>

#include "base/xxh3.h"
#include "plan/axes.h"

namespace feedrate::plan {

std::string cell_id(const std::vector<std::pair<std::string, std::string>>& axes) {
  std::string text;
  for (const auto& [axis, value] : axes) text.append(axis).append("=").append(value).append("\n");
  return to_hex(xxh3_of(text));
}

const std::optional<std::string>& Cell::operator[](std::string_view axis) const {
  static const std::optional<std::string> null;
  const auto found = values_.find(axis);
  return found == values_.end() ? null : found->second;
}

void Cell::set(std::string_view axis, std::optional<std::string> value) {
  if (value) {
    values_.insert_or_assign(std::string(axis), std::move(value));
  } else if (const auto found = values_.find(axis); found != values_.end()) {
    values_.erase(found);
  }
}

std::optional<std::string> Cell::recorded(const Axis& axis) const {
  const auto& value = (*this)[axis.name];
  return value && axis.recorded ? axis.recorded(*value) : value;
}

std::string Cell::id() const {
  std::vector<std::pair<std::string, std::string>> given;
  for (const Axis& axis : axes()) {
    if (const auto value = recorded(axis)) given.emplace_back(axis.name, *value);
  }
  return cell_id(given);
}

std::string Cell::label() const {
  std::vector<std::string_view> all;
  for (const Axis& axis : axes()) all.push_back(axis.name);
  return label_of(all);
}

std::string Cell::label_of(std::span<const std::string_view> of) const {
  std::vector<const Axis*> shown;
  for (const Axis& axis : axes()) {
    const auto& value = (*this)[axis.name];
    if (std::ranges::find(of, axis.name) != of.end() && value &&
        axis.label.position != AxisLabel::kNever &&
        (axis.label.always || (*value != axis.usual && !(axis.open && *value == "auto"))))
      shown.push_back(&axis);
  }
  std::ranges::stable_sort(shown, {}, [](const Axis* axis) { return axis->label.position; });
  std::string text;
  for (const Axis* axis : shown) {
    const std::string& value = *(*this)[axis->name];
    text += axis->label.words ? axis->label.words(value, *this)
                              : ", " + std::string(axis->name) + " " + value;
  }
  return text;
}

}  // namespace feedrate::plan
