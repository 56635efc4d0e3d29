#include "judge/capacity.h"

#include <algorithm>
#include <string>

namespace feedrate::judge {
namespace {

// The capacity of `servers`, each of which does all parts of an image.
Capacity of_parts(const char* resource, const ServiceTimes& service, double servers) {
  Capacity capacity{.resource = resource};
  if (service.ms <= 0) return capacity;
  const auto largest = std::ranges::max_element(service.parts, {}, &ServiceTimes::Part::ms);
  capacity.imgs_per_s = 1e3 * servers / service.ms;
  capacity.largest_stage = largest->name;
  capacity.largest_share = largest->ms / service.ms;
  return capacity;
}

bool is_busy_cpu(const Capacity& c) { return c.resource == "cpu" && c.utilisation >= kCpuBound; }

// How long the workers were in their stages and did not compute.
double off_cpu_ns(const measure::StageTotals& stages) {
  double all = 0;
  for (const measure::StageTotal& t : stages.stage)
    all += static_cast<double>(std::max<std::int64_t>(t.wall_ns - t.cpu_ns, 0));
  return all;
}

}  // namespace

ServiceTimes cpu_times(const measure::StageTotals& stages) {
  ServiceTimes service;
  for (std::size_t i = 0; i < measure::kStageCount; ++i) {
    const measure::StageTotal& t = stages.stage[i];
    if (t.items == 0) continue;
    service.parts.push_back(
        {measure::kStageNames[i], measure::ms(t.cpu_ns) / static_cast<double>(t.items)});
    service.ms += service.parts.back().ms;
  }
  return service;
}

ServiceTimes service_times(const measure::StageTotals& stages) {
  const double off_cpu = off_cpu_ns(stages);
  const double waits =
      off_cpu <= 0 ? 0 : std::clamp(static_cast<double>(stages.cpu_wait_ns) / off_cpu, 0.0, 1.0);
  ServiceTimes service;
  double cpu_wait_ms = 0;
  for (std::size_t i = 0; i < measure::kStageCount; ++i) {
    const measure::StageTotal& t = stages.stage[i];
    if (t.items == 0) continue;
    const double each = 1e-6 / static_cast<double>(t.items);
    const double wall = each * static_cast<double>(t.wall_ns);
    const double waiting =
        waits * each * static_cast<double>(std::max<std::int64_t>(t.wall_ns - t.cpu_ns, 0));
    service.parts.push_back({measure::kStageNames[i], wall - waiting});
    cpu_wait_ms += waiting;
    service.ms += wall;
  }
  if (cpu_wait_ms > 0) service.parts.push_back({kCpuWait, cpu_wait_ms});
  return service;
}

std::vector<Capacity> capacities(const CapacityInputs& run) {
  std::vector<Capacity> all;
  if (run.loader_seen) {
    all.push_back(
        of_parts("loader", service_times(run.stages), std::max(run.workers, 1) * run.gpus));
    all.push_back(of_parts("cpu", cpu_times(run.stages), run.cpus));
  }
  if (run.stages[measure::Stage::lock].items > 0) {
    measure::StageTotals inside;
    inside[measure::Stage::read] = run.stages[measure::Stage::read];
    all.push_back(of_parts("library", service_times(inside), 1));
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

}  // namespace feedrate::judge
