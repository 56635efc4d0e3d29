#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

#include "pipeline/planted_times.h"
#include "run/window.h"

namespace feedrate::run {

// What every cell of a run or sweep shares.
struct RunOptions {
  std::filesystem::path data;  // the dataset's folder; may be empty if every cell is synthetic
  RunLimits limits;
  std::uint64_t seed = 0;
  pipeline::PlantedTimes planted{};  // zero but in tests of the measurement itself
  bool plant = false;
  std::optional<int> planted_rank;  // in this rank alone
  Appointment appointment{};        // with other runs on this machine
};

}  // namespace feedrate::run
