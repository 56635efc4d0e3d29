#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/file_remedy.h"
#include "base/whole_file.h"
#include "device/emulated.h"
#include "device/emulated_device.h"
#include "device/host_cost.h"
#include "device/published_rates.h"
#include "device/step_trace.h"
#include "measure/clock.h"
#include "measure/delays.h"
#include "ranks/thread_groups.h"
#include "tests/message_of.h"
#include "tests/temporary_folder.h"

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

TEST(EmulatedDevice, ItsNameSaysWhoseRateItIs) {
  const auto name_of = [](const char* argument, codec::PixelSize size = {224, 224}) {
    return device::emulated_device(argument, spec_of(device::Feed::streamed, size)).name;
  };
  EXPECT_EQ(name_of("h200"), "NVIDIA H200, PyTorch's published 3,079 img/s (EMULATED)");
  EXPECT_EQ(name_of("h200-mlperf"), "NVIDIA H200, MLPerf's 7,950 img/s (EMULATED)");
  EXPECT_EQ(name_of("h200-feedrate"), "NVIDIA H200, feedrate's own 7,490 img/s (EMULATED)");
  EXPECT_EQ(name_of("a100-mxnet"), "NVIDIA A100, MXNet's published 3,410 img/s (EMULATED)");
  EXPECT_EQ(name_of("h200", {448, 448}),
            "NVIDIA H200, PyTorch's published 3,079 img/s scaled to 448x448 (EMULATED)")
      << "nobody published the scaled rate";
  EXPECT_EQ(name_of("500", {448, 448}), "500 img/s (EMULATED)");
  for (const device::PublishedRate& rate : device::published_rates()) {
    EXPECT_FALSE(rate.whose.empty()) << rate.name;
    EXPECT_FALSE(rate.source.empty()) << rate.name;
  }
}

// The host would set the rate, and not the device that was asked for.
TEST(EmulatedDevice, ABurnLongerThanItsStepIsRefused) {
  const auto error_of = [](const char* argument, double host_cpu_ms, int batch_size) {
    device::StepSpec spec = spec_of(device::Feed::streamed, {224, 224});
    spec.batch.batch_size = batch_size;
    spec.emulation.host_cpu_ms = host_cpu_ms;
    return message_of([&] { device::emulated_kind().check(argument, spec); });
  };
  EXPECT_EQ(error_of("h100-mlperf", 10, 64),
            "--host-cpu-ms 10: is longer than a step of 8.9 ms (64 images at 7,162 img/s); use a "
            "larger --batch-size, or a smaller --host-cpu-ms");
  EXPECT_EQ(error_of("h100-mlperf", 10, 128), "no error");
  EXPECT_EQ(error_of("h100-mlperf", device::kGraphStepCpuMs, 64), "no error");
  EXPECT_EQ(error_of("h200-feedrate", device::kEagerStepCpuMs, 256).find("--host-cpu-ms 55: "), 0u);
  EXPECT_EQ(error_of("800", 10, 8), "no error") << "as long as the step";
  EXPECT_EQ(error_of("inf", 10, 8), "no error") << "its steps have no length";
  EXPECT_EQ(error_of("1e9", 0, 8), "no error");
  EXPECT_EQ(error_of("1e9", -1, 8), "no error");
}

TEST(EmulatedDevice, DelaysThatArePutInMayBeLongerThanTheStep) {
  measure::Delays delays;
  delays.set(measure::Place::step, {.ns = 50'000'000, .burns = true});
  delays.plant(measure::Place::copy, 50'000'000);
  device::StepSpec spec = spec_of(device::Feed::streamed);
  spec.delays = &delays;
  EXPECT_NO_THROW(device::emulated_kind().check("4000", spec));
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

// As a GPU's copy engine takes none: 38.5 MB, which a copy by the host would take milliseconds for.
TEST(Emulated, ACopyTakesTheBusItsTimeAndTheHostNoCpu) {
  device::StepSpec spec = spec_of(device::Feed::streamed, {224, 224});
  spec.batch.batch_size = 256;
  const auto groups = ranks::make_thread_groups(1);
  const auto device = device::emulated_kind().make("inf", spec, *groups[0]);
  constexpr int kBatches = 10;
  const double bus_ns =
      kBatches * 1e9 * static_cast<double>(spec.batch.bytes()) / device->describe().bus_bytes_per_s;
  const auto ring = pipeline::SlabRing::make(spec.batch, 1, device->slabs());
  const std::int64_t start = measure::now_ns(), cpu = measure::thread_cpu_ns();
  for (int i = 0; i < kBatches; ++i) device->submit(ring->acquire());
  EXPECT_LT(static_cast<double>(measure::thread_cpu_ns() - cpu), bus_ns / 2);
  const std::int64_t took = measure::now_ns() - start;
  EXPECT_GE(static_cast<double>(device->arrivals().busy_ns), bus_ns);
  EXPECT_LE(device->arrivals().busy_ns, took) << "the slab is held until each copy's end";
}

// Neither a copy nor a kept batch: what is computed from them is nothing.
TEST(Emulated, ReadsNoBytesOfABatch) {
  const auto groups = ranks::make_thread_groups(1);
  pipeline::HostBatch nowhere;
  ASSERT_EQ(nowhere.pixels, nullptr);
  const auto streams =
      device::emulated_kind().make("inf", spec_of(device::Feed::streamed), *groups[0]);
  streams->submit(pipeline::BatchLease(&nowhere));
  EXPECT_EQ(streams->arrivals().batches, 1);
  const auto keeps =
      device::emulated_kind().make("inf", spec_of(device::Feed::resident), *groups[0]);
  keeps->keep(nowhere);
  keeps->submit(nullptr);
  keeps->drain();
}

TEST(Emulated, SlabsComeBackOnceCopied) {
  const device::StepSpec spec = spec_of(device::Feed::streamed);
  const auto groups = ranks::make_thread_groups(1);
  const auto device = device::emulated_kind().make("inf", spec, *groups[0]);
  const auto ring = pipeline::SlabRing::make(spec.batch, 1, device->slabs());
  for (int i = 0; i < 10; ++i) device->submit(ring->acquire());  // would wait for ever otherwise
}

TEST(Emulated, AStepTakesItsHostCpuTimeAndTheAveragingOfGradients) {
  const auto groups = ranks::make_thread_groups(1);
  device::StepSpec spec = spec_of(device::Feed::synthetic);
  spec.emulation = {.host_cpu_ms = 3, .all_reduce_ms = 50};
  const auto device = device::emulated_kind().make("4000", spec, *groups[0]);
  const std::int64_t cpu = measure::thread_cpu_ns();
  std::vector<device::StepRecord> steps;
  for (int i = 0; i < 10; ++i) device->submit(nullptr);
  EXPECT_GE(measure::thread_cpu_ns() - cpu, 30'000'000);
  device->drain();
  device->collect(steps);
  ASSERT_EQ(steps.size(), 10u);
  // Launching takes three times as long as the device's own work, so the steps wait for it. One
  // GPU averages with nobody.
  for (const device::StepRecord& step : steps) EXPECT_EQ(step.sync_ns, 0);
  EXPECT_GE(steps.back().end_ns - steps.front().end_ns, 26'000'000);
  EXPECT_EQ(device->describe().host_cpu_ms, 3);
}

TEST(Emulated, SeveralGpusAverageTheirGradients) {
  const auto groups = ranks::make_thread_groups(2);
  device::StepSpec spec = spec_of(device::Feed::synthetic);
  spec.emulation = {.host_cpu_ms = 0, .all_reduce_ms = 2};
  std::vector<device::StepRecord> steps;
  const auto run = [&](int rank, std::vector<device::StepRecord>& into) {
    const auto device = device::emulated_kind().make("4000", spec, *groups[rank]);
    for (int i = 0; i < 10; ++i) device->submit(nullptr);
    device->drain();
    device->collect(into);
  };
  std::vector<device::StepRecord> others;
  std::thread other([&] { run(1, others); });
  run(0, steps);
  other.join();
  for (const device::StepRecord& step : steps) EXPECT_GE(step.sync_ns, 2'000'000);
  EXPECT_GE(steps.back().end_ns - steps.front().end_ns, 27'000'000);
}

TEST(Emulated, ADelayedStepIsLongerByItsDelay) {
  const auto groups = ranks::make_thread_groups(1);
  measure::Delays delays;
  device::StepSpec spec = spec_of(device::Feed::synthetic);
  spec.delays = &delays;
  const auto device = device::emulated_kind().make("200", spec, *groups[0]);  // 20 ms a step
  std::vector<device::StepRecord> steps;
  for (int i = 0; i < 6; ++i) {
    delays.set(measure::Place::step, {.ns = i % 2 * 3'000'000});
    delays.set(measure::Place::copy, {.ns = 1'000'000'000});        // nothing is copied,
    delays.set(measure::Place::all_reduce, {.ns = 1'000'000'000});  // and there is one rank
    device->submit(nullptr);
  }
  device->drain();
  device->collect(steps);
  ASSERT_EQ(steps.size(), 6u);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].end_ns - steps[i].start_ns, i % 2 == 0 ? 20'000'000 : 23'000'000);
    EXPECT_EQ(steps[i].sync_ns, 0);
  }
}

TEST(Emulated, AStepWhoseDelayBurnsTakesTheLaunchingThreadsTime) {
  const auto groups = ranks::make_thread_groups(1);
  measure::Delays delays;
  delays.set(measure::Place::step, {.ns = 3'000'000, .burns = true});
  device::StepSpec spec = spec_of(device::Feed::synthetic);
  spec.delays = &delays;
  spec.emulation.host_cpu_ms = 1;
  const auto device = device::emulated_kind().make("inf", spec, *groups[0]);
  const std::int64_t cpu = measure::thread_cpu_ns();
  std::vector<device::StepRecord> steps;
  for (int i = 0; i < 5; ++i) device->submit(nullptr);
  EXPECT_GE(measure::thread_cpu_ns() - cpu, 5 * 4'000'000);
  device->drain();
  device->collect(steps);
  ASSERT_EQ(steps.size(), 5u);
  for (const device::StepRecord& step : steps) EXPECT_GE(step.end_ns - step.start_ns, 4'000'000);
}

TEST(Emulated, ADelayedCopyTakesLonger) {
  const auto groups = ranks::make_thread_groups(1);
  measure::Delays delays;
  device::StepSpec spec = spec_of(device::Feed::streamed);
  spec.delays = &delays;
  const auto device = device::emulated_kind().make("inf", spec, *groups[0]);
  const auto ring = pipeline::SlabRing::make(spec.batch, 2, device->slabs());
  delays.set(measure::Place::copy, {.ns = 4'000'000});
  for (int i = 0; i < 5; ++i) device->submit(ring->acquire());
  const std::int64_t slept_ns = device->arrivals().busy_ns;
  EXPECT_GE(slept_ns, 5 * 4'000'000);
  delays.set(measure::Place::copy, {.ns = 4'000'000, .burns = true});
  const std::int64_t cpu = measure::thread_cpu_ns();
  for (int i = 0; i < 5; ++i) device->submit(ring->acquire());
  EXPECT_GE(measure::thread_cpu_ns() - cpu, 5 * 4'000'000);
  EXPECT_GE(device->arrivals().busy_ns - slept_ns, 5 * 4'000'000);
}

TEST(Emulated, SeveralGpusAverageTheirGradientsLater) {
  const auto groups = ranks::make_thread_groups(2);
  measure::Delays delays;
  delays.set(measure::Place::all_reduce, {.ns = 5'000'000});
  device::StepSpec spec = spec_of(device::Feed::synthetic);
  spec.emulation = {.host_cpu_ms = 0, .all_reduce_ms = 2};
  spec.delays = &delays;
  std::vector<device::StepRecord> steps, others;
  const auto run = [&](std::size_t rank, std::vector<device::StepRecord>& into) {
    const auto device = device::emulated_kind().make("4000", spec, *groups[rank]);
    for (int i = 0; i < 10; ++i) device->submit(nullptr);
    device->drain();
    device->collect(into);
  };
  {
    const std::jthread other([&] { run(1, others); });
    run(0, steps);
  }
  ASSERT_EQ(steps.size(), 10u);
  ASSERT_EQ(others.size(), 10u);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_GE(steps[i].sync_ns, 7'000'000);
    EXPECT_EQ(steps[i].end_ns, others[i].end_ns);
    // One of the two has waited for nobody.
    EXPECT_EQ(std::min(steps[i].sync_ns, others[i].sync_ns), 7'000'000);
  }
}

class StepTraces : public testing::Test {
 protected:
  device::StepSpec spec() const { return spec_of(device::Feed::synthetic); }
  std::string file() const { return folder_.path() / "steps"; }
  std::string error_of(const std::string& text) const {
    std::ofstream(file()) << text;
    return message_of([&] { device::read_step_trace(file()); });
  }
  TemporaryFolder folder_;
};

TEST_F(StepTraces, AreReplayedStepByStepAgainAndAgain) {
  device::write_step_trace(file(), {.device = "Some GPU",
                                    .model = "resnet50",
                                    .precision = "bf16",
                                    .batch_size = 4,
                                    .input_size = {8, 8},
                                    .host_cpu_ms = 0.25,
                                    .step_ms = {4, 1, 7}});
  const auto emulated = device::emulated_device("trace=" + file(), spec());
  EXPECT_DOUBLE_EQ(emulated.imgs_per_s, 1000);
  EXPECT_NE(emulated.name.find("Some GPU (EMULATED"), std::string::npos);
  EXPECT_DOUBLE_EQ(device::mean_step_ms(emulated, 4, 0, 3), 4);
  EXPECT_DOUBLE_EQ(device::mean_step_ms(emulated, 4, 4, 1), 1);
  EXPECT_DOUBLE_EQ(device::mean_step_ms(emulated, 4, 5, 2), 5.5) << "the last, the first again";
  EXPECT_DOUBLE_EQ(device::mean_step_ms(device::emulated_device("500", spec()), 4, 7, 9), 8);
  const auto groups = ranks::make_thread_groups(1);
  const auto device = device::emulated_kind().make("trace=" + file(), spec(), *groups[0]);
  EXPECT_EQ(device->describe().host_cpu_ms, 0.25);
  EXPECT_EQ(device->describe().step_ms, 4);
  std::vector<device::StepRecord> steps;
  for (int i = 0; i < 6; ++i) device->submit(nullptr);
  device->drain();
  device->collect(steps);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_GE(steps[i].end_ns - steps[i].start_ns, (std::array{4, 1, 7})[i % 3] * 1'000'000);
  }
}

TEST_F(StepTraces, ThatBurnLongerThanTheirMeanStepAreRefused) {
  const auto error_of = [&](double recorded_ms, double asked_ms) {
    device::write_step_trace(file(), {.device = "d",
                                      .model = "resnet50",
                                      .precision = "bf16",
                                      .batch_size = 4,
                                      .input_size = {8, 8},
                                      .host_cpu_ms = recorded_ms,
                                      .step_ms = {2, 2, 8}});
    device::StepSpec asked = spec();
    asked.emulation.host_cpu_ms = asked_ms;
    return message_of([&] { device::emulated_kind().check("trace=" + file(), asked); });
  };
  EXPECT_EQ(error_of(0.5, -1), "no error");
  EXPECT_EQ(error_of(0.5, 4), "no error") << "longer than some steps, not than the mean";
  EXPECT_EQ(error_of(4.1, -1), "no error") << "the process's other threads";
  EXPECT_EQ(error_of(0.5, 5),
            "--host-cpu-ms 5: is longer than a mean step of 4.0 ms (4 images at 1,000 img/s); use "
            "a smaller --host-cpu-ms");
  EXPECT_EQ(error_of(12, -1),
            "--host-cpu-ms auto: 12.0 ms, as recorded, is longer than a mean step of 4.0 ms (4 "
            "images at 1,000 img/s); use a smaller --host-cpu-ms");
}

// The steps may be those of an emulated device, of which a name says so once.
TEST_F(StepTraces, OfAnEmulatedDeviceSayOnceThatItIs) {
  const std::string once = "300 img/s (EMULATED from its recorded steps)";
  const std::vector<std::string> recorded = {"300 img/s", "300 img/s (EMULATED)", once};
  const std::string whose = "NVIDIA H200, PyTorch's published 3,079 img/s";
  for (const std::string& name : recorded) {
    device::write_step_trace(file(), {.device = name,
                                      .model = "resnet50",
                                      .precision = "",
                                      .batch_size = 4,
                                      .input_size = {8, 8},
                                      .step_ms = {4}});
    EXPECT_EQ(device::emulated_device("trace=" + file(), spec()).name, once);
  }
  device::write_step_trace(file(), {.device = whose + " (EMULATED)",
                                    .model = "resnet50",
                                    .precision = "",
                                    .batch_size = 4,
                                    .input_size = {8, 8},
                                    .step_ms = {4}});
  EXPECT_EQ(device::emulated_device("trace=" + file(), spec()).name,
            whose + " (EMULATED from its recorded steps)");
}

TEST_F(StepTraces, AreForTheBatchThatTheyWereRecordedWith) {
  device::write_step_trace(file(), {.device = "d",
                                    .model = "resnet50",
                                    .precision = "",
                                    .batch_size = 32,
                                    .input_size = {8, 8},
                                    .step_ms = {4}});
  const std::string error = message_of([&] { device::emulated_device("trace=" + file(), spec()); });
  EXPECT_NE(error.find("use --batch-size 32"), std::string::npos) << error;
}

TEST_F(StepTraces, ANameSaysWhatIsInTheFile) {
  const auto write = [&](double step_ms) {
    device::write_step_trace(file(), {.device = "d",
                                      .model = "resnet50",
                                      .precision = "",
                                      .batch_size = 4,
                                      .input_size = {8, 8},
                                      .step_ms = {step_ms}});
  };
  write(4);
  const std::string named = device::with_content("trace=" + file());
  EXPECT_EQ(device::with_content(named), named);
  EXPECT_EQ(device::trace_name_from(named).file, file());
  EXPECT_EQ(device::trace_name_from("trace=" + file()).xxh3, "");
  EXPECT_EQ(device::emulated_device(named, spec()).imgs_per_s, 1000);
  write(8);
  EXPECT_NE(device::with_content("trace=" + file()), named);
  const std::string error = message_of([&] { device::emulated_device(named, spec()); });
  EXPECT_NE(error.find("has changed"), std::string::npos) << error;
  EXPECT_EQ(error.find('#'), std::string::npos) << error;
}

TEST_F(StepTraces, ThatCannotBeReadAreAdvisedByTheReason) {
  const auto said = [](const std::string& name) {
    return message_of([&] { device::with_content("trace=" + name); });
  };
  EXPECT_NE(said(file()).find("No such file or directory; record it: "), std::string::npos);
  const std::string folder = std::filesystem::path(file()).parent_path();
  EXPECT_NE(said(folder).find("; name a file that --record-steps wrote"), std::string::npos);
  EXPECT_THROW(device::with_content("trace=/proc/self/mem"), UnreadableError) << "EIO";
  EXPECT_THROW(device::read_step_trace(std::filesystem::path("/proc/self/mem")), UnreadableError);
}

TEST_F(StepTraces, WhatIsNoneIsRefusedByLine) {
  EXPECT_NE(message_of([&] { device::read_step_trace(file()); }).find("cannot be read"),
            std::string::npos);
  const std::string head =
      "feedrate.steps/2\ndevice\td\nmodel\tm\nbatch_size\t4\ninput_size\t8x8\nhost_cpu_ms\t0\n";
  const std::string two = head + "steps\t2\nstep_ms\n";
  for (const auto& [text, reason] : std::vector<std::pair<std::string, std::string>>{
           {"", "line 1: ends too early"},
           {"ledger\n", "is no file of recorded steps"},
           {head, "line 7: ends too early"},
           {head + "step_ms\n4\n", "has \"\""},
           {head + "steps\t0\nstep_ms\n", "has \"0\""},
           {two + "4\n-1\n", "line 10: has \"-1\""},
           {two + "4\nnan\n", "has \"nan\""},
           {two + "4\n", "line 10: ends too early"},
           {two + "4\n5\n6\n", "line 11: goes on after the last of its 2 steps"},
           {two + "4\n5\n\n", "line 11: goes on"},
           {"feedrate.steps/2\nstep_ms\n4\n", "has \"\""}}) {
    EXPECT_NE(error_of(text).find(reason), std::string::npos) << text << error_of(text);
    EXPECT_NE(error_of(text).find("; record it anew: "), std::string::npos) << error_of(text);
  }
}

// As a full disk, a kill or a copy that was stopped leave it. Wherever it was cut, a number may
// look whole.
TEST_F(StepTraces, APartOfARecordingIsRefused) {
  device::write_step_trace(file(), {.device = "d",
                                    .model = "resnet50",
                                    .precision = "bf16",
                                    .batch_size = 4,
                                    .input_size = {8, 8},
                                    .step_ms = {4, 1.25, 7}});
  const std::string whole = read_whole_text(file());
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_NE(error_of(whole.substr(0, bytes)), "no error")
        << bytes << " of " << whole.size() << " bytes";
  EXPECT_EQ(error_of(whole), "no error");
}

TEST_F(StepTraces, OfTheOlderFormatAreRecordedAnew) {
  const std::string error = error_of(
      "feedrate.steps/1\ndevice\td\nmodel\tm\nprecision\t\nbatch_size\t4\ninput_size\t8x8\n"
      "host_cpu_ms\t0\nstep_ms\n4\n");
  EXPECT_NE(error.find("older version"), std::string::npos) << error;
  EXPECT_NE(error.find("; record it anew: "), std::string::npos) << error;
}

TEST_F(StepTraces, TakeAFilesPlaceAsAWhole) {
  std::filesystem::create_directory(file());
  const device::StepTrace trace{.device = "d",
                                .model = "resnet50",
                                .precision = "",
                                .batch_size = 4,
                                .input_size = {8, 8},
                                .step_ms = {4}};
  EXPECT_THROW(device::write_step_trace(file(), trace), Error);
  EXPECT_FALSE(std::filesystem::exists(file() + ".partial"));
  std::filesystem::remove(file());
  device::write_step_trace(file(), trace);
  EXPECT_EQ(device::read_step_trace(std::filesystem::path(file())).step_ms, trace.step_ms);
  EXPECT_FALSE(std::filesystem::exists(file() + ".partial"));
}

}  // namespace
}  // namespace feedrate::tests
