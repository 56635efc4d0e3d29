#include "pipeline/sampler.h"

#include "benchmarks/micro/micro.h"
#include "pipeline/augment.h"

namespace feedrate::micro {
namespace {

// The next position of rank 1 of 8 in ImageNet's training set.
void draw(benchmark::State& state) {
  const pipeline::Sampler sampler(1'281'167, 0, 1, 8);
  std::int64_t index = 0;
  for (auto _ : state) benchmark::DoNotOptimize(sampler.at(index++).sample);
  set_rates(state, 1, 0);
}

void crop(benchmark::State& state) {
  std::uint64_t seed = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(pipeline::random_resized_crop(kStored, seed++).window.x);
  set_rates(state, 1, 0);
}

}  // namespace

void register_sampler() {
  benchmark::RegisterBenchmark("sampler/draw", draw);
  benchmark::RegisterBenchmark("sampler/random_resized_crop", crop);
}

}  // namespace feedrate::micro
