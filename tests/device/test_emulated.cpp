#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "device/emulated.h"
#include "device/emulated_device.h"
#include "measure/clock.h"
#include "ranks/thread_groups.h"

namespace feedrate::tests {
namespace {

device::StepSpec spec_of(device::Feed feed, codec::PixelSize size = {8, 8}) {
  return {.batch = {4, size, codec::Dtype::uint8}, .model = "resnet50", .feed = feed};
}

TEST(EmulatedDevice, PublishedRatesScaleWithTheInputsPixels) {
  const auto at224 = device::emulated_device("a100", spec_of(device::Feed::streamed, {224, 224}));
  const auto at448 = device::emulated_device("a100", spec_of(device::Feed::streamed, {448, 448}));
  EXPECT_DOUBLE_EQ(at224.imgs_per_s, 4 * at448.imgs_per_s);
  EXPECT_NE(at224.name.find("EMULATED"), std::string::npos);
}

TEST(EmulatedDevice, AGivenRateIsTakenAsItIs) {
  EXPECT_DOUBLE_EQ(
      device::emulated_device("500", spec_of(device::Feed::streamed, {448, 448})).imgs_per_s, 500);
}

TEST(EmulatedDevice, NonsenseIsRefused) {
  for (const char* argument : {"", "z9", "-5", "0", "12x", "nan"}) {
    EXPECT_THROW(device::emulated_device(argument, spec_of(device::Feed::streamed)), UsageError)
        << argument;
  }
  device::StepSpec other = spec_of(device::Feed::streamed);
  other.model = "resnet18";
  EXPECT_THROW(device::emulated_device("a100", other), UsageError);
}

TEST(Emulated, StepsFollowEachOtherWithoutGap) {
  const auto groups = ranks::make_thread_groups(1);
  const auto device =
      device::emulated_kind().make("1000", spec_of(device::Feed::synthetic), *groups[0]);
  std::vector<device::StepRecord> steps;
  std::vector<std::int64_t> submitted;
  for (int i = 0; i < 20; ++i) {
    device->submit(nullptr);
    submitted.push_back(measure::now_ns());
  }
  device->drain();
  device->collect(steps);
  ASSERT_EQ(steps.size(), 20u);
  for (std::size_t i = 1; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].end_ns - steps[i].start_ns, 4'000'000);
    // On a busy machine this thread may come late; only then may there be a gap.
    if (submitted[i] < steps[i - 1].end_ns) {
      EXPECT_EQ(steps[i].start_ns, steps[i - 1].end_ns);
    }
    EXPECT_GE(steps[i].start_ns, steps[i - 1].end_ns);
    EXPECT_LE(steps[i].start_ns, std::max(submitted[i], steps[i - 1].end_ns));
  }
}

TEST(Emulated, TheHostIsAtMostTwoStepsAhead) {
  const auto groups = ranks::make_thread_groups(1);
  const auto device = device::emulated_kind().make("200", spec_of(device::Feed::synthetic),
                                                   *groups[0]);  // 20 ms a step
  for (int i = 0; i < 5; ++i) device->submit(nullptr);
  std::vector<device::StepRecord> steps;
  device->collect(steps);
  EXPECT_GE(steps.size(), 3u);
  device->drain();
}

TEST(Emulated, ALateBatchLeavesTheDeviceIdle) {
  const device::StepSpec spec = spec_of(device::Feed::streamed);
  const auto groups = ranks::make_thread_groups(1);
  const auto device = device::emulated_kind().make("4000", spec, *groups[0]);  // 1 ms a step
  const auto ring = pipeline::SlabRing::make(spec.batch, 2, device->slabs());
  std::vector<device::StepRecord> steps;
  for (int i = 0; i < 3; ++i) {
    measure::sleep_until_ns(measure::now_ns() + 10'000'000);
    device->submit(ring->acquire());
  }
  device->drain();
  device->collect(steps);
  ASSERT_EQ(steps.size(), 3u);
  for (std::size_t i = 1; i < 3; ++i) EXPECT_GE(steps[i].start_ns - steps[i - 1].end_ns, 8'000'000);
}

// A batch of 4 x 1024 x 1024 pixels takes half a millisecond at least on a bus of 25 GB/s.
TEST(Emulated, CountsWhatArrivesAndHowLongItTook) {
  const device::StepSpec spec = spec_of(device::Feed::streamed, {1024, 1024});
  const auto groups = ranks::make_thread_groups(1);
  const auto device = device::emulated_kind().make("inf", spec, *groups[0]);
  const auto ring = pipeline::SlabRing::make(spec.batch, 2, device->slabs());
  for (int i = 0; i < 5; ++i) device->submit(ring->acquire());
  EXPECT_EQ(device->arrivals().batches, 5);
  EXPECT_GE(static_cast<double>(device->arrivals().busy_ns),
            5e9 * static_cast<double>(spec.batch.bytes()) / device->describe().bus_bytes_per_s);
}

TEST(Emulated, SlabsComeBackOnceCopied) {
  const device::StepSpec spec = spec_of(device::Feed::streamed);
  const auto groups = ranks::make_thread_groups(1);
  const auto device = device::emulated_kind().make("inf", spec, *groups[0]);
  const auto ring = pipeline::SlabRing::make(spec.batch, 1, device->slabs());
  for (int i = 0; i < 10; ++i) device->submit(ring->acquire());  // would wait for ever otherwise
}

}  // namespace
}  // namespace feedrate::tests
