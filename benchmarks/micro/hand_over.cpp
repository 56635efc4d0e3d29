#include <memory>
#include <thread>

#include "benchmarks/micro/micro.h"
#include "pipeline/bounded_queue.h"
#include "pipeline/slab_ring.h"

namespace feedrate::micro {
namespace {

// In and out by one thread: the locks alone.
void queue_alone(benchmark::State& state) {
  pipeline::BoundedQueue<std::unique_ptr<int>> queue(4);
  auto item = std::make_unique<int>(0);
  for (auto _ : state) {
    queue.put(std::move(item));
    item = std::move(*queue.get());
  }
  set_rates(state, 1, 0);
}

// From a thread that has nothing else to do: locks and wake-ups, as between a worker and the
// trainer.
void queue_between_threads(benchmark::State& state) {
  pipeline::BoundedQueue<int> queue(static_cast<std::size_t>(state.range(0)));
  std::jthread producer([&] {
    while (queue.put(0)) {
    }
  });
  for (auto _ : state) benchmark::DoNotOptimize(queue.get());
  set_rates(state, 1, 0);
  queue.close();
}

void ring(benchmark::State& state) {
  const auto slabs =
      pipeline::SlabRing::make({1, {8, 8}, codec::Dtype::uint8}, 4, pipeline::host_slabs());
  for (auto _ : state) benchmark::DoNotOptimize(slabs->acquire().get());
  set_rates(state, 1, 0);
}

}  // namespace

// Items are hand-overs, not images.
void register_hand_over() {
  benchmark::RegisterBenchmark("queue/alone", queue_alone);
  benchmark::RegisterBenchmark("queue/between_threads", queue_between_threads)
      ->ArgName("capacity")
      ->Arg(1)
      ->Arg(4)
      ->Arg(64)
      ->UseRealTime();
  benchmark::RegisterBenchmark("slab_ring/acquire_and_return", ring);
}

}  // namespace feedrate::micro
