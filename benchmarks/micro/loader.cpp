#include "pipeline/loader.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
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

// Threads that open, pread and close the files and do nothing else: what precached tensors are to come near. Each
// reads into a ring as long as the loader's, since a buffer that stays in the CPU's cache would take the bytes faster
// than any batch can; `ring` = false is that buffer.
void bare_read(benchmark::State& state, const std::string& variant, bool ring, Material& material) {
  constexpr int kTurn = 8 * kBatch;
  const auto work = work_on(variant, nullptr, material);
  std::vector<std::string> paths;
  for (const SampleFile& file : work->dataset.samples) paths.push_back(work->dataset.folder / file.path);
  const std::size_t bytes = work->dataset.samples.front().bytes;
  const int slots = ring ? 8 * kBatch : 1;
  std::vector<std::vector<std::byte>> slabs(static_cast<std::size_t>(state.range(0)), std::vector<std::byte>(bytes * static_cast<std::size_t>(slots)));
  std::int64_t first = 0;
  for (auto _ : state) {
    std::atomic<std::int64_t> next = first;
    first += kTurn;
    const auto run = [&](std::vector<std::byte>& slab) {
      for (std::int64_t i; (i = next.fetch_add(1)) < first;) {
        const int file = open(paths[static_cast<std::size_t>(work->sampler.at(i).sample)].c_str(), O_RDONLY | O_CLOEXEC);
        std::byte* to = slab.data() + static_cast<std::size_t>(i % slots) * bytes;
        if (pread(file, to, bytes, 0) != static_cast<ssize_t>(bytes)) std::abort();
        close(file);
      }
    };
    std::vector<std::jthread> threads;
    for (auto& slab : slabs) threads.emplace_back([&] { run(slab); });
  }
  set_rates(state, kTurn, kTurn * static_cast<std::int64_t>(bytes));
}

// The same of one packed file that stays open: what containers are to come near.
void bare_packed(benchmark::State& state, const std::string& variant, Material& material) {
  constexpr int kTurn = 8 * kBatch, kSlots = 8 * kBatch;
  const auto work = work_on(variant, nullptr, material);
  const int file = open(stored_file(work->dataset, 0).c_str(), O_RDONLY | O_CLOEXEC);
  const std::size_t bytes = work->dataset.samples.front().bytes;
  std::vector<std::vector<std::byte>> slabs(static_cast<std::size_t>(state.range(0)), std::vector<std::byte>(bytes * kSlots));
  std::int64_t first = 0;
  for (auto _ : state) {
    std::atomic<std::int64_t> next = first;
    first += kTurn;
    const auto run = [&](std::vector<std::byte>& slab) {
      for (std::int64_t i; (i = next.fetch_add(1)) < first;) {
        const SampleFile& sample = work->dataset.samples[static_cast<std::size_t>(work->sampler.at(i).sample)];
        std::byte* to = slab.data() + static_cast<std::size_t>(i % kSlots) * bytes;
        if (pread(file, to, bytes, static_cast<off_t>(sample.offset)) != static_cast<ssize_t>(bytes)) std::abort();
      }
    };
    std::vector<std::jthread> threads;
    for (auto& slab : slabs) threads.emplace_back([&] { run(slab); });
  }
  close(file);
  set_rates(state, kTurn, kTurn * static_cast<std::int64_t>(bytes));
}

// A loader whose consumer takes every batch at once.
void deliver(benchmark::State& state, const char* kind, const std::string& variant, const Format* format, Material& material) {
  const auto work = work_on(variant, format, material);
  const auto loader = make_loader(kind, {work->recipe, work->sampler, static_cast<int>(state.range(0)), 4, host_slabs()});
  for (auto _ : state) benchmark::DoNotOptimize(loader->next()->pixels);
  set_rates(state, kBatch, 0);
}

void with_workers(benchmark::internal::Benchmark* b) {
  b->ArgName("workers")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
}

void add_bare_read(const std::string& variant, bool ring, Material& material) {
  with_workers(benchmark::RegisterBenchmark(((ring ? "bare_read/" : "bare_read/one_buffer/") + variant).c_str(), [=, &material](benchmark::State& state) {
    bare_read(state, variant, ring, material);
  }));
}

void add(const std::string& variant, const Format* format, Material& material) {
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
  add("tensor-uint8.tar/224x224", nullptr, material);
  with_workers(benchmark::RegisterBenchmark("bare_read/tensor-uint8.tar/224x224", [&material](benchmark::State& state) {
    bare_packed(state, "tensor-uint8.tar/224x224", material);
  }));
  for (const bool ring : {true, false}) add_bare_read("tensor-uint8/224x224", ring, material);
}

}  // namespace feedrate::micro
