#include "diagnose/capacity.h"

#include <algorithm>
#include <string>

namespace feedrate::diagnose {
namespace {

// The capacity of `servers`, each of which spends `time` of every stage on an image.
Capacity of_stages(const char* resource, const measure::StageTotals& stages,
                   std::int64_t measure::StageTotal::* time, int servers) {
  Capacity capacity{.resource = resource};
  double service_s = 0, largest = 0;
  for (std::size_t i = 0; i < measure::kStageCount; ++i) {
    const measure::StageTotal& t = stages.stage[i];
    if (t.items == 0) continue;
    const double per_item = measure::seconds(t.*time) / static_cast<double>(t.items);
    service_s += per_item;
    if (per_item > largest) {
      largest = per_item;
      capacity.largest_stage = measure::kStageNames[i];
    }
  }
  if (service_s <= 0) return capacity;
  capacity.imgs_per_s = servers / service_s;
  capacity.largest_share = largest / service_s;
  return capacity;
}

bool is_busy_cpu(const Capacity& c) { return c.resource == "cpu" && c.utilisation >= kCpuBound; }

}  // namespace

std::vector<Capacity> capacities(const CapacityInputs& run) {
  std::vector<Capacity> all;
  if (run.loader_seen) {
    all.push_back(of_stages("loader", run.stages, &measure::StageTotal::wall_ns,
                            std::max(run.workers, 1) * run.gpus));
    all.push_back(of_stages("cpu", run.stages, &measure::StageTotal::cpu_ns, run.cpus));
  }
  if (run.stages[measure::Stage::lock].items > 0) {
    measure::StageTotals inside;
    inside[measure::Stage::read] = run.stages[measure::Stage::read];
    all.push_back(of_stages("library", inside, &measure::StageTotal::wall_ns, 1));
  }
  std::erase_if(all, [](const Capacity& c) { return c.imgs_per_s <= 0; });
  if (run.arrival_s_per_batch > 0) {
    all.push_back({.resource = run.decoded_on_device ? "decoder" : "link",
                   .imgs_per_s = run.gpus * run.batch_size / run.arrival_s_per_batch,
                   .largest_stage = run.decoded_on_device ? "decode" : "copy",
                   .largest_share = 1});
  }
  if (run.device_ms_per_step > 0) {
    all.push_back({.resource = "device",
                   .imgs_per_s = 1e3 * run.gpus * run.batch_size / run.device_ms_per_step,
                   .largest_stage = "step",
                   .largest_share = 1});
  }
  for (Capacity& c : all) c.utilisation = run.imgs_per_s / c.imgs_per_s;
  std::sort(all.begin(), all.end(),
            [](const Capacity& a, const Capacity& b) { return a.imgs_per_s < b.imgs_per_s; });
  // Busy CPUs go in front of the loader, but not in front of a slower device.
  const auto cpu = std::find_if(all.begin(), all.end(), is_busy_cpu);
  const auto loader = std::find_if(all.begin(), all.end(),
                                   [](const Capacity& c) { return c.resource == "loader"; });
  if (cpu != all.end() && loader < cpu) std::rotate(loader, cpu, cpu + 1);
  return all;
}

}  // namespace feedrate::diagnose
