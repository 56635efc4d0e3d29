#include "pipeline/loader.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/micro/micro.h"
#include "pipeline/sample_source.h"

namespace feedrate::micro {
namespace {

constexpr int kBatch = 64;

struct Work {
  storage::DatasetVariant dataset;
  pipeline::SampleRecipe recipe;
  pipeline::Sampler sampler;
};

std::unique_ptr<Work> work_on(const std::string& variant, const codec::Format* format,
                              Material& material) {
  auto work = std::make_unique<Work>(
      Work{storage::open_dataset(material.data(), variant), {}, {1, 0, 0, 1}});
  work->recipe = {
      .dataset = &work->dataset, .format = format, .spec = {kBatch, kInput, codec::Dtype::uint8}};
  work->sampler =
      pipeline::Sampler(static_cast<std::int64_t>(work->dataset.samples.size()), 0, 0, 1);
  return work;
}

constexpr int kTurn =
    8 * kBatch;  // long, so that its end, where the threads wait for the last one, weighs little

// Each turn is shared by as many threads as the benchmark has workers: make_work(t) gives thread t
// what it does with a position of the stream.
template <typename MakeWork>
void in_turns(benchmark::State& state, const MakeWork& make_work) {
  std::int64_t first = 0;
  for (auto _ : state) {
    std::atomic<std::int64_t> next = first;
    first += kTurn;
    std::vector<std::jthread> threads;
    for (std::int64_t t = 0; t < state.range(0); ++t) {
      threads.emplace_back([&, t] {
        const auto work = make_work(static_cast<std::size_t>(t));
        for (std::int64_t i; (i = next.fetch_add(1)) < first;) work(i);
      });
    }
  }
}

// Threads that make samples and hand them to nobody: a loader with as many workers should come near
// this rate.
void bare(benchmark::State& state, const std::string& variant, const codec::Format* format,
          Material& material) {
  const auto work = work_on(variant, format, material);
  in_turns(state, [&](std::size_t) {
    const auto counters = std::make_shared<measure::StageCounters>();
    const auto source = std::make_shared<pipeline::SampleSource>(work->recipe, *counters);
    const auto slot = std::make_shared<std::vector<std::byte>>(work->recipe.spec.sample_bytes());
    return [&, counters, source, slot](std::int64_t i) {
      source->make(work->sampler.at(i), slot->data());
    };
  });
  set_rates(state, kTurn, 0);
}

// Threads that only read the samples' bytes, by read_sample(sample, to): precached tensors should
// come near this rate. Each reads into a ring of `slots` that is as long as the loader's, because a
// buffer that stays in the CPU's cache would take the bytes faster than any batch can. slots = 1
// measures that buffer.
template <typename ReadSample>
void bare_reads(benchmark::State& state, const Work& work, int slots,
                const ReadSample& read_sample) {
  const std::size_t bytes = work.dataset.samples.front().bytes;
  std::vector<std::vector<std::byte>> slabs(
      static_cast<std::size_t>(state.range(0)),
      std::vector<std::byte>(bytes * static_cast<std::size_t>(slots)));
  in_turns(state, [&](std::size_t t) {
    return [&, t](std::int64_t i) {
      std::byte* to = slabs[t].data() + static_cast<std::size_t>(i % slots) * bytes;
      if (read_sample(static_cast<std::size_t>(work.sampler.at(i).sample), to) !=
          static_cast<ssize_t>(bytes))
        std::abort();
    };
  });
  set_rates(state, kTurn, kTurn * static_cast<std::int64_t>(bytes));
}

// open, pread, close.
void bare_read(benchmark::State& state, const std::string& variant, bool ring, Material& material) {
  const auto work = work_on(variant, nullptr, material);
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < storage::stored_files(work->dataset); ++i)
    paths.push_back(storage::stored_file(work->dataset, i));
  bare_reads(state, *work, ring ? kTurn : 1, [&](std::size_t sample, std::byte* to) {
    const int file = open(paths[sample].c_str(), O_RDONLY | O_CLOEXEC);
    const ssize_t got = pread(file, to, work->dataset.samples[sample].bytes, 0);
    close(file);
    return got;
  });
}

// pread of one packed file that stays open.
void bare_packed(benchmark::State& state, const std::string& variant, Material& material) {
  const auto work = work_on(variant, nullptr, material);
  const int file = open(storage::stored_file(work->dataset, 0).c_str(), O_RDONLY | O_CLOEXEC);
  bare_reads(state, *work, kTurn, [&](std::size_t i, std::byte* to) {
    const storage::SampleFile& sample = work->dataset.samples[i];
    return pread(file, to, sample.bytes, static_cast<off_t>(sample.offset));
  });
  close(file);
}

// A loader whose consumer takes every batch at once.
void deliver(benchmark::State& state, const char* kind, const std::string& variant,
             const codec::Format* format, Material& material) {
  const auto work = work_on(variant, format, material);
  const auto loader = pipeline::make_loader(
      kind,
      {work->recipe, work->sampler, static_cast<int>(state.range(0)), 4, pipeline::host_slabs()});
  for (auto _ : state) benchmark::DoNotOptimize(loader->next()->pixels);
  set_rates(state, kBatch, 0);
}

void with_workers(benchmark::internal::Benchmark* b) {
  b->ArgName("workers")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
}

void add_bare_read(const std::string& variant, bool ring, Material& material) {
  with_workers(benchmark::RegisterBenchmark(
      ((ring ? "bare_read/" : "bare_read/one_buffer/") + variant).c_str(),
      [=, &material](benchmark::State& state) { bare_read(state, variant, ring, material); }));
}

void add(const std::string& variant, const codec::Format* format, Material& material) {
  with_workers(benchmark::RegisterBenchmark(
      ("bare/" + variant).c_str(),
      [=, &material](benchmark::State& state) { bare(state, variant, format, material); }));
  for (const char* kind : {"pool", "batch"}) {
    with_workers(
        benchmark::RegisterBenchmark(("loader/" + std::string(kind) + "/" + variant).c_str(),
                                     [=, &material](benchmark::State& state) {
                                       deliver(state, kind, variant, format, material);
                                     }));
  }
}

}  // namespace

void register_loader(Material& material) {
  for (const char* name : {"jpeg", "png"})
    add(std::string(name) + "/500x375", codec::find_picture_format(name), material);
  add("tensor-uint8/224x224", nullptr, material);
  add("tensor-uint8.tar/224x224", nullptr, material);
  with_workers(benchmark::RegisterBenchmark(
      "bare_read/tensor-uint8.tar/224x224", [&material](benchmark::State& state) {
        bare_packed(state, "tensor-uint8.tar/224x224", material);
      }));
  for (const bool ring : {true, false}) add_bare_read("tensor-uint8/224x224", ring, material);
}

}  // namespace feedrate::micro
