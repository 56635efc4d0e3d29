#include "diagnose/capacity.h"

#include <algorithm>
#include <string>

namespace feedrate {
namespace {

Capacity loader_capacity(const CapacityInputs& run) {
  Capacity loader{.resource = "loader"};
  double service_s = 0, largest = 0;
  for (std::size_t i = 0; i < kStageCount; ++i) {
    const StageTotal& t = run.stages.stage[i];
    if (t.items == 0) continue;
    const double per_item = seconds(t.wall_ns) / static_cast<double>(t.items);
    service_s += per_item;
    if (per_item > largest) {
      largest = per_item;
      loader.largest_stage = kStageNames[i];
    }
  }
  if (service_s <= 0) return loader;
  loader.imgs_per_s = std::max(run.workers, 1) * run.gpus / service_s;
  loader.largest_share = largest / service_s;
  return loader;
}

}  // namespace

std::vector<Capacity> capacities(const CapacityInputs& run) {
  std::vector<Capacity> all;
  if (const Capacity loader = loader_capacity(run); loader.imgs_per_s > 0) all.push_back(loader);
  if (run.copy_bytes_per_image > 0 && run.bus_bytes_per_s > 0) {
    all.push_back({.resource = "link", .imgs_per_s = run.gpus * run.bus_bytes_per_s / run.copy_bytes_per_image,
                   .largest_stage = "copy", .largest_share = 1});
  }
  if (run.device_ms_per_step > 0) {
    all.push_back({.resource = "device", .imgs_per_s = 1e3 * run.gpus * run.batch_size / run.device_ms_per_step,
                   .largest_stage = "step", .largest_share = 1});
  }
  for (Capacity& c : all) c.utilisation = run.imgs_per_s / c.imgs_per_s;
  std::sort(all.begin(), all.end(), [](const Capacity& a, const Capacity& b) { return a.imgs_per_s < b.imgs_per_s; });
  return all;
}

}  // namespace feedrate
