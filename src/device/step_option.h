#pragma once
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "device/accelerator.h"

namespace feedrate::device {

// A way of making the training step that is an axis, as one row: what options, ranks, records and
// qualifications know of it.
struct StepOption {
  std::string_view axis;
  std::string_view plain;  // the value from which qualification begins; empty: it is never tried
  std::string (*value)(const StepOptions& options);
  void (*set)(StepOptions& options, std::string_view value);
};
std::span<const StepOption> step_options();
const StepOption& step_option(std::string_view axis);  // throws std::out_of_range

// Sets the axes of `open` to the values that `from` has.
void copy_step_options(const std::set<std::string>& open, const StepOptions& from,
                       StepOptions& options);

}  // namespace feedrate::device
