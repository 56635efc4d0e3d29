#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/micro/micro.h"
#include "device/emulated.h"
#include "device/registry.h"
#include "measure/clock.h"
#include "plan/expand.h"
#include "ranks/thread_groups.h"
#include "run/cell_runner.h"

namespace feedrate::micro {
namespace {

// A cell as `feedrate run` measures it, on a device whose steps take no time: what is left of a
// step is the harness (asking for a batch, submitting, collecting, the window). The project
// promises at most 50 us. With cache=device nothing crosses from the host; with cache=host a batch
// does each step, and with several GPUs every step has their barrier. Items are steps; step_ns is
// the number to look at.
void harness(benchmark::State& state, const std::string& cache, int gpus, Material& material) {
  const plan::Cell cell = plan::expand({{"device", {"emulated:inf"}},
                                        {"data", {"tensor"}},
                                        {"cache", {cache}},
                                        {"batch-size", {"8"}},
                                        {"gpus", {std::to_string(gpus)}}})
                              .at(0);
  device::AcceleratorRegistry registry;
  const run::RunLimits limits{
      .warmup_seconds = 0, .max_warmup_seconds = 0, .min_steps = 2000, .min_seconds = 1e-6};
  run::CellRunner runner({.data = material.data(), .limits = limits}, registry);
  double window_s = 0;
  std::int64_t steps = 0;
  for (auto _ : state) {
    const run::CellResult result = runner.run(cell, {}, {});
    if (result.status != run::Status::ok) {
      state.SkipWithError(result.error.c_str());
      return;
    }
    const double wall = result.measurement->ranks.front().window_s;
    state.SetIterationTime(wall);
    window_s += wall;
    steps += result.measurement->steps;
  }
  state.SetItemsProcessed(steps);
  state.counters["step_ns"] = 1e9 * window_s / static_cast<double>(steps);
}

// Steps of exactly one millisecond. Shows how far the emulated device misses its deadlines over a
// run (the misses must not add up), and the longest delay until the end of a step is noticed.
void emulated_step(benchmark::State& state) {
  const auto groups = ranks::make_thread_groups(1);
  const device::StepSpec spec{.batch = {8, kInput, codec::Dtype::uint8},
                              .model = "resnet50",
                              .feed = device::Feed::synthetic};
  const auto device = device::emulated_kind().make("8000", spec, *groups[0]);
  std::vector<device::StepRecord> steps;
  for (int i = 0; i < 2; ++i)
    device->submit(nullptr);  // two may be unfinished: from here on each waits
  std::int64_t latest = 0;
  for (auto _ : state) {
    device->submit(nullptr);
    device->collect(steps);
    if (!steps.empty()) latest = std::max(latest, measure::now_ns() - steps.back().end_ns);
  }
  device->drain();
  set_rates(state, spec.batch.batch_size, 0);
  state.counters["planned_ns"] = 1e6;
  state.counters["latest_ns"] = static_cast<double>(latest);
}

// A batch's way onto a device whose steps take no time: the bus that is stated for it. The CPU time
// of an image is what the training thread pays for it, where a GPU's copy engine would take none.
void emulated_copy(benchmark::State& state) {
  const auto groups = ranks::make_thread_groups(1);
  const device::StepSpec spec{.batch = {256, kInput, codec::Dtype::uint8},
                              .model = "resnet50",
                              .feed = device::Feed::streamed};
  const auto device = device::emulated_kind().make("inf", spec, *groups[0]);
  const auto ring = pipeline::SlabRing::make(spec.batch, 2, device->slabs());
  std::vector<device::StepRecord> steps;
  const std::int64_t cpu_ns = measure::thread_cpu_ns();
  for (auto _ : state) {
    device->submit(ring->acquire());
    steps.clear();
    device->collect(steps);
  }
  const auto images = static_cast<double>(state.iterations()) * spec.batch.batch_size;
  state.counters["cpu_ns_per_image"] =
      static_cast<double>(measure::thread_cpu_ns() - cpu_ns) / images;
  set_rates(state, spec.batch.batch_size, static_cast<std::int64_t>(spec.batch.bytes()));
}

}  // namespace

void register_harness(Material& material) {
  for (const char* cache : {"device", "host"}) {
    for (const int gpus : {1, 2}) {
      const std::string name =
          std::string("harness/cache-") + cache + "/gpus-" + std::to_string(gpus);
      benchmark::RegisterBenchmark(
          name.c_str(),
          [=, &material](benchmark::State& state) { harness(state, cache, gpus, material); })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
  benchmark::RegisterBenchmark("emulated/step", emulated_step)
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark("emulated/copy", emulated_copy)
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace feedrate::micro
