#include "run/cell_result.h"

namespace feedrate::run {

std::string_view name_of(Status status) {
  static constexpr std::string_view kNames[] = {"ok", "failed", "interrupted"};
  return kNames[static_cast<std::size_t>(status)];
}

}  // namespace feedrate::run
