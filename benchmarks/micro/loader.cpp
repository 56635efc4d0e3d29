#include "pipeline/loader.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/micro/micro.h"

namespace feedrate::micro {
namespace {

constexpr int kBatch = 64;

struct Work {
  DatasetVariant dataset;
  SampleRecipe recipe;
  Sampler sampler;
};

std::unique_ptr<Work> work_on(const std::string& variant, const Format* format, Material& material) {
  auto work = std::make_unique<Work>(Work{open_dataset(material.data(), variant), {}, {1, 0, 0, 1}});
  work->recipe = {.dataset = &work->dataset, .format = format, .spec = {kBatch, kInput, Dtype::uint8}};
  work->sampler = Sampler(static_cast<std::int64_t>(work->dataset.samples.size()), 0, 0, 1);
  return work;
}

// Threads that make samples and hand them to nobody: what a loader of as many workers is to come near. A turn
// is long, so that its end, where the threads wait for the last one, weighs little.
void bare(benchmark::State& state, const std::string& variant, const Format* format, Material& material) {
  constexpr int kTurn = 8 * kBatch;
  const auto work = work_on(variant, format, material);
  std::int64_t first = 0;
  for (auto _ : state) {
    std::atomic<std::int64_t> next = first;
    first += kTurn;
    const auto run = [&] {
      StageCounters counters;
      const auto source = make_sample_source(work->recipe, counters);
      std::vector<std::byte> slot(work->recipe.spec.sample_bytes());
      for (std::int64_t i; (i = next.fetch_add(1)) < first;) source->make(work->sampler.at(i), slot.data());
    };
    std::vector<std::jthread> threads;
    for (std::int64_t t = 0; t < state.range(0); ++t) threads.emplace_back(run);
  }
  set_rates(state, kTurn, 0);
}

// A loader whose consumer takes every batch at once.
void deliver(benchmark::State& state, const char* kind, const std::string& variant, const Format* format, Material& material) {
  const auto work = work_on(variant, format, material);
  const auto loader = make_loader(kind, {work->recipe, work->sampler, static_cast<int>(state.range(0)), 4, host_slabs()});
  for (auto _ : state) benchmark::DoNotOptimize(loader->next()->pixels);
  set_rates(state, kBatch, 0);
}

void add(const std::string& variant, const Format* format, Material& material) {
  const auto with_workers = [](benchmark::internal::Benchmark* b) {
    b->ArgName("workers")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
  };
  with_workers(benchmark::RegisterBenchmark(("bare/" + variant).c_str(), [=, &material](benchmark::State& state) {
    bare(state, variant, format, material);
  }));
  for (const char* kind : {"pool", "batch"}) {
    with_workers(benchmark::RegisterBenchmark(("loader/" + std::string(kind) + "/" + variant).c_str(), [=, &material](benchmark::State& state) {
      deliver(state, kind, variant, format, material);
    }));
  }
}

}  // namespace

void register_loader(Material& material) {
  for (const char* name : {"jpeg", "png"}) add(std::string(name) + "/500x375", find_picture_format(name), material);
  add("tensor-uint8/224x224", nullptr, material);
}

}  // namespace feedrate::micro
