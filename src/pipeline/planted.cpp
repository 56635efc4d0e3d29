#include "pipeline/planted.h"

namespace feedrate {

void PlantedDelay::sleep(Stage stage, std::int64_t stream_index) {
  const PlantedStage& planted = (*times_)[static_cast<std::size_t>(stage)];
  std::int64_t service = planted.ns;
  if (planted.every > 0 && stream_index % planted.every == planted.every - 1) service += planted.spike_ns;
  if (service == 0 || stream_index < planted.free_first) return;
  const std::int64_t start = now_ns();
  const std::int64_t deadline = start + service - owed_ns_;
  sleep_until_ns(deadline);
  owed_ns_ = now_ns() - deadline;
}

}  // namespace feedrate
