#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace feedrate::plan {

struct Axis;

// A cell's name: 16 hex digits, XXH3-64 of "axis=value" lines in the order of `axes`.
std::string cell_id(const std::vector<std::pair<std::string, std::string>>& axes);

// One point of the product of axes: a value for every axis, null where the axis does not concern
// it.
class Cell {
 public:
  const std::optional<std::string>& operator[](std::string_view axis) const;
  void set(std::string_view axis, std::optional<std::string> value);
  bool is(std::string_view axis, std::string_view value) const { return (*this)[axis] == value; }
  bool operator==(const Cell&) const = default;

  // The value as records have it, see Axis::recorded.
  std::optional<std::string> recorded(const Axis& axis) const;
  // cell_id() of its axes in canonical order, values as records have them, nulls left out.
  std::string id() const;
  // Its name for a person: "jpeg 500x375, 2 workers, input 224x224".
  std::string label() const;
  // Of it what these axes say: {"data", "workers"}: "jpeg, 2 workers".
  std::string label_of(std::span<const std::string_view> of) const;

 private:
  std::map<std::string, std::optional<std::string>, std::less<>> values_;
};

}  // namespace feedrate::plan
