#include "storage/io_engine.h"

#include <array>
#include <string>

#include "base/error.h"

namespace feedrate::storage {

std::span<const IoEngine> io_engines() {
  static const std::array kEngines{buffered_reads(), direct_reads(), mapped_reads(), uring_reads(),
                                   direct_uring_reads()};
  return kEngines;
}

const IoEngine& find_io_engine(std::string_view name) {
  for (const IoEngine& engine : io_engines()) {
    if (engine.name == name) return engine;
  }
  throw UsageError("--io " + std::string(name), "is not known", "`feedrate list` shows the ways");
}

}  // namespace feedrate::storage
