#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "device/copy_slots.h"
#include "device/graph_turns.h"
#include "device/steps_in_flight.h"
#include "simulated_gpu.h"

// Copies and steps as train/cuda.cpp queues them, on a device whose work takes as long as it likes:
// what is read must be whole, and must be what the step is for.
namespace feedrate::tests {
namespace {

using Slots = device::CopySlots<SimulatedStreams>;
using Steps = device::StepsInFlight<SimulatedStreams>;

constexpr SimulatedStreams::Stream kCompute{0}, kCopies{1};
constexpr pipeline::BatchSpec kSpec{.batch_size = 1, .size = {2, 2}};

constexpr std::int64_t kBad = -100;  // the stamp of a batch that fails

struct PutFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// How long things take in one schedule, at most.
struct Pace {
  std::int64_t copy_ns, step_ns, host_ns;
};

class Training {
 public:
  Training(std::uint64_t seed, bool graphs)
      : gpu_(seed),
        pace_(some_pace()),
        ring_(pipeline::SlabRing::make(kSpec, static_cast<int>(gpu_.between(2, 4)),
                                       pipeline::host_slabs())),
        turns_(graphs),
        slots_(std::in_place, kCompute, kCopies,
               [this](std::size_t slot, const pipeline::HostBatch& batch, const auto&) {
                 return put(slot, batch);
               }),
        steps_(
            std::in_place, kCompute, /*times_exchange=*/true,
            [this](std::size_t place) { ended(place); }, &SimulatedGpu::host_ns),
        spins_(gpu_.spins()) {}

  SimulatedGpu& gpu() { return gpu_; }

  void step(bool put_fails = false) {
    put_fails_ = put_fails;
    steps_->make_room();
    const std::size_t slot = slots_->copy(next_batch());
    ++queued_;
    steps_->begin();
    run(slot);
    slots_->done_reading();
    const std::size_t place = steps_->number();
    gpu_.queue(kCompute.number, {.ns = gpu_.between(100, 5000),
                                 .end = [this, place] { loss_seen_[place] = loss_; }});
    steps_->end();
    look();
  }

  void finish() {
    steps_->drain();
    slots_->wait();
    look();
    EXPECT_EQ(finished_.size(), truth_.size());
    check_times();
    EXPECT_EQ(gpu_.spins(), spins_) << "a wait that spins takes a CPU from the loaders";
    expect_all_slabs();
  }

  // As an accelerator does whose step has failed.
  void end() {
    steps_.reset();
    slots_.reset();
    expect_all_slabs();
  }

 private:
  struct Buffer {  // of the device
    std::int64_t batch = -1;
    bool is_written = false, is_read = false;
  };
  struct Ran {
    std::int64_t start_ns, end_ns, sync_ns;
  };

  Pace some_pace() {
    const auto some = [&](std::int64_t most) { return gpu_.between(most / 50, most); };
    return {.copy_ns = some(12'000'000), .step_ns = some(12'000'000), .host_ns = some(9'000'000)};
  }

  // The loader has filled another slab, while the device went on.
  pipeline::BatchLease next_batch() {
    if (gpu_.between(0, 2) == 0) gpu_.host_takes(gpu_.between(0, pace_.host_ns));
    pipeline::BatchLease batch = ring_->try_acquire();
    EXPECT_TRUE(batch) << "more than one slab is held";
    gpu_.host_takes(0);
    batch->sequence = put_fails_ ? kBad : queued_;
    stamp(*batch, batch->sequence);
    return batch;
  }

  static void stamp(pipeline::HostBatch& batch, std::int64_t value) {
    std::memcpy(batch.pixels, &value, sizeof value);
  }
  static std::int64_t stamp_of(const std::byte* pixels) {
    std::int64_t value = 0;
    std::memcpy(&value, pixels, sizeof value);
    return value;
  }

  device::DecodedBy put(std::size_t slot, const pipeline::HostBatch& batch) {
    const std::int64_t expected = batch.sequence;
    const std::byte* const pixels = batch.pixels;
    Buffer& buffer = buffers_[slot];
    gpu_.queue(kCopies.number,
               {.ns = gpu_.between(1000, pace_.copy_ns),
                .begin =
                    [=, &buffer] {
                      EXPECT_FALSE(buffer.is_read) << "a buffer that is read is written";
                      EXPECT_EQ(stamp_of(pixels), expected) << "the slab was filled anew";
                      buffer.is_written = true;
                    },
                .end =
                    [=, &buffer] {
                      EXPECT_EQ(stamp_of(pixels), expected) << "the slab was filled meanwhile";
                      EXPECT_FALSE(buffer.is_read) << "a buffer that is written is read";
                      buffer = {.batch = stamp_of(pixels)};
                    }});
    if (put_fails_) throw PutFailed("a picture cannot be decoded");
    return {};
  }

  // A captured step reads what it read when it was captured.
  void run(std::size_t slot) {
    switch (turns_.next(slot)) {
      case device::GraphTurn::eager:
        return queue_step(slot);
      case device::GraphTurn::capture:
        graphs_[slot] = slot;
        break;
      case device::GraphTurn::replay:
        break;
    }
    queue_step(graphs_.at(slot));
  }

  void queue_step(std::size_t slot) {
    const std::int64_t number = queued_ - 1;
    Buffer& buffer = buffers_[slot];
    const auto now = [this] { return gpu_.device_ns(kCompute.number); };
    gpu_.queue(kCompute.number, {.ns = gpu_.between(1000, pace_.step_ns),
                                 .begin =
                                     [=, this, &buffer] {
                                       EXPECT_FALSE(buffer.is_written)
                                           << "a batch is read before it is whole";
                                       EXPECT_EQ(buffer.batch, number) << "another batch is read";
                                       buffer.is_read = true;
                                       truth_.push_back({.start_ns = now()});
                                     },
                                 .end =
                                     [=, this, &buffer] {
                                       EXPECT_EQ(buffer.batch, number);
                                       buffer.is_read = false;
                                       loss_ = number;
                                     }});
    steps_->handed_over();
    const std::int64_t waits = gpu_.between(0, 300'000);
    gpu_.queue(kCompute.number, {.ns = waits, .end = [=, this] {
                                   truth_.back().sync_ns = waits;
                                   truth_.back().end_ns = now();
                                 }});
    steps_->averaged();
  }

  void ended(std::size_t place) {
    EXPECT_EQ(loss_seen_[place], retired_) << "another step's loss is looked at";
    ++retired_;
  }

  void look() {
    constexpr std::int64_t kCallsNs = 400'000;  // what the calls themselves take
    const std::int64_t began_ns = gpu_.host_ns();
    steps_->look();
    slots_->release();
    EXPECT_LT(gpu_.host_ns() - began_ns, kCallsNs) << "to look is not to wait";
    for (const device::StepRecord& step : steps_->take_finished()) finished_.push_back(step);
  }

  // The copy of the loss, up to 5 us and what the host takes to queue it, belongs to the step.
  void check_times() const {
    constexpr double kTie = 60'000, kLossCopy = 60'000, kRounding = 200;
    for (std::size_t i = 0; i < finished_.size(); ++i) {
      const device::StepRecord& step = finished_[i];
      const Ran& ran = truth_[i];
      const double late = static_cast<double>(step.start_ns - ran.start_ns);
      EXPECT_NEAR(late, 0, kTie) << "step " << i;
      const auto longer =
          static_cast<double>((step.end_ns - step.start_ns) - (ran.end_ns - ran.start_ns));
      EXPECT_GT(longer, -kRounding) << "step " << i;
      EXPECT_LT(longer, kLossCopy) << "step " << i;
      EXPECT_GE(step.sync_ns, ran.sync_ns - 100) << "step " << i;
      const std::int64_t before = i > 0 ? finished_[i - 1].end_ns : 0;
      EXPECT_GE(step.start_ns, before - 200) << "step " << i;
    }
  }

  void expect_all_slabs() {
    std::vector<pipeline::BatchLease> all;
    while (auto lease = ring_->try_acquire()) all.push_back(std::move(lease));
    EXPECT_EQ(static_cast<int>(all.size()), ring_->size()) << "a slab has not come back";
    for (const auto& lease : all) stamp(*lease, -7);
    gpu_.host_takes(1'000'000'000);  // nobody may be reading them
  }

  SimulatedGpu gpu_;
  const Pace pace_;
  const std::shared_ptr<pipeline::SlabRing> ring_;
  std::array<Buffer, Slots::kSlots> buffers_;
  std::map<std::size_t, std::size_t> graphs_;
  device::GraphTurns turns_;
  std::int64_t queued_ = 0, retired_ = 0;
  std::int64_t loss_ = -1;  // on the device
  std::array<std::int64_t, Steps::kMost> loss_seen_{};
  std::vector<Ran> truth_;
  std::vector<device::StepRecord> finished_;
  bool put_fails_ = false;
  std::optional<Slots> slots_;
  std::optional<Steps> steps_;
  const int spins_;
};

// Of all schedules, the first that is wrong.
template <typename Schedule>
void try_schedules(const Schedule& schedule) {
  constexpr std::uint64_t kSchedules = 10'000;
  for (std::uint64_t seed = 0; seed < kSchedules && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    schedule(seed);
  }
}

TEST(GpuSchedule, EachStepReadsItsOwnBatchWholeAndIsTimed) {
  try_schedules([](std::uint64_t seed) {
    Training training(seed, /*graphs=*/seed % 2 == 0);
    for (int step = 0; step < 24; ++step) training.step();
    training.finish();
  });
}

// The buffers are guarded whoever else limits how far the host is ahead.
TEST(GpuSchedule, CopiesWaitForTheReadersOfTheirBuffers) {
  try_schedules([](std::uint64_t seed) {
    SimulatedGpu gpu(seed);
    const auto ring = pipeline::SlabRing::make(kSpec, 2, pipeline::host_slabs());
    std::array<bool, Slots::kSlots> is_read{};
    Slots slots(kCompute, kCopies, [&](std::size_t slot, const pipeline::HostBatch&, const auto&) {
      const auto expect_free = [&is_read, slot] { EXPECT_FALSE(is_read[slot]); };
      gpu.queue(kCopies.number,
                {.ns = gpu.between(1000, 300'000), .begin = expect_free, .end = expect_free});
      return device::DecodedBy{};
    });
    for (int step = 0; step < 8; ++step) {
      const std::size_t slot = slots.copy(ring->try_acquire());
      gpu.queue(kCompute.number, {.ns = gpu.between(1000, 3'000'000),
                                  .begin = [&, slot] { is_read[slot] = true; },
                                  .end = [&, slot] { is_read[slot] = false; }});
      slots.done_reading();
    }
    kCompute.synchronize();
    EXPECT_EQ(slots.arrivals().batches, 7);
    slots.wait();
    EXPECT_EQ(slots.arrivals().batches, 8);
  });
}

TEST(GpuSchedule, CopiesHideBehindTheStepBefore) {
  constexpr std::int64_t kCopyNs = 300'000, kStepNs = 3'000'000, kSteps = 20;
  SimulatedGpu gpu(1);
  const auto ring = pipeline::SlabRing::make(kSpec, 2, pipeline::host_slabs());
  Slots slots(kCompute, kCopies, [&](std::size_t, const pipeline::HostBatch&, const auto&) {
    gpu.queue(kCopies.number, {.ns = kCopyNs});
    return device::DecodedBy{};
  });
  const std::int64_t began_ns = gpu.host_ns();
  for (std::int64_t step = 0; step < kSteps; ++step) {
    slots.copy(ring->try_acquire());
    gpu.queue(kCompute.number, {.ns = kStepNs});
    slots.done_reading();
  }
  kCompute.synchronize();
  EXPECT_LT(gpu.host_ns() - began_ns, kSteps * kStepNs + 2 * kCopyNs) << "but the first";
}

TEST(GpuSchedule, ACopyThatFailsHalfWayGivesItsSlabBackWhenNothingReadsIt) {
  try_schedules([](std::uint64_t seed) {
    Training training(seed, /*graphs=*/seed % 2 == 0);
    const std::int64_t fails_at = training.gpu().between(0, 9);
    for (int step = 0; step < fails_at; ++step) training.step();
    EXPECT_THROW(training.step(/*put_fails=*/true), PutFailed);
    if (seed % 3 == 0) {  // the next batch may be a good one
      for (int step = 0; step < 5; ++step) training.step();
    }
    training.end();
  });
}

TEST(GpuSchedule, AfterAnErrorOfTheDeviceEverythingEnds) {
  try_schedules([](std::uint64_t seed) {
    Training training(seed, /*graphs=*/seed % 2 == 0);
    const std::int64_t steps = training.gpu().between(0, 9);
    for (int step = 0; step < steps; ++step) training.step();
    training.gpu().die();
    EXPECT_THROW(training.step(), std::runtime_error);
    training.end();
  });
}

// A float of milliseconds is exact to a quarter of a millisecond after an hour.
TEST(GpuSchedule, TimesStayExactForHours) {
  SimulatedGpu gpu(1);
  Steps steps(kCompute, false, {}, &SimulatedGpu::host_ns);
  constexpr std::int64_t kStepNs = 250'000'123;
  for (int step = 0; step < 20'000; ++step) {
    steps.make_room();
    steps.begin();
    gpu.queue(kCompute.number, {.ns = kStepNs});
    steps.end();
  }
  steps.drain();
  EXPECT_EQ(gpu.spins(), 32) << "those of the clock's start";
  for (const device::StepRecord& step : steps.take_finished())
    ASSERT_NEAR(static_cast<double>(step.end_ns - step.start_ns), kStepNs, 20'000);
}

}  // namespace
}  // namespace feedrate::tests
