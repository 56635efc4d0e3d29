#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "device/registry.h"
#include "ranks/thread_groups.h"
#include "tests/message_of.h"
#include "train/accelerators.h"

namespace feedrate::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int kColours = 4, kPerBatch = 8, kPixels = 32;

device::StepSpec spec_of(device::Feed feed, codec::Dtype dtype = codec::Dtype::uint8) {
  return {.batch = {.batch_size = kPerBatch, .size = {kPixels, kPixels}, .dtype = dtype},
          .model = "resnet18",
          .classes = kColours,
          .threads = 1,
          .seed = 1,
          .feed = feed};
}

std::unique_ptr<device::Accelerator> make(const device::AcceleratorKind& kind,
                                          const device::StepSpec& spec) {
  return kind.make("", spec, *ranks::make_thread_groups(1).front());
}

// Each class is a colour, with a little noise.
void paint(pipeline::HostBatch& batch, const pipeline::BatchSpec& spec, int step) {
  constexpr std::uint8_t colours[kColours][3] = {
      {220, 30, 30}, {30, 220, 30}, {30, 30, 220}, {200, 200, 40}};
  unsigned noise = 2463534242u + static_cast<unsigned>(step);
  std::vector<std::uint8_t> pixels(spec.sample_elements() * kPerBatch);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const std::size_t picture = i / spec.sample_elements();
    noise ^= noise << 13, noise ^= noise >> 17, noise ^= noise << 5;
    pixels[i] = static_cast<std::uint8_t>(colours[picture % kColours][i % 3] + noise % 32);
    batch.labels[picture] = static_cast<std::int64_t>(picture % kColours);
  }
  codec::normalise(pixels.data(), pixels.size() / 3, spec.dtype, batch.pixels);
}

class Streamed : public testing::TestWithParam<codec::Dtype> {};

TEST_P(Streamed, LearnsColours) {
  const device::StepSpec spec = spec_of(device::Feed::streamed, GetParam());
  const auto cpu = make(train::cpu_kind(), spec);
  const auto ring = pipeline::SlabRing::make(spec.batch, 1, cpu->slabs());
  std::vector<device::StepRecord> steps;
  for (int step = 0; step < 12; ++step) {
    pipeline::BatchLease batch =
        ring->acquire();  // would wait for ever if the step before had kept its slab
    paint(*batch, spec.batch, step);
    cpu->submit(std::move(batch));
  }
  cpu->drain();
  cpu->collect(steps);
  ASSERT_EQ(steps.size(), 12u);
  EXPECT_LT(steps.back().loss, 0.5 * steps.front().loss);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_LT(steps[i].start_ns, steps[i].end_ns);
    EXPECT_GE(steps[i].start_ns, i > 0 ? steps[i - 1].end_ns : 0);
  }
}
INSTANTIATE_TEST_SUITE_P(Dtypes, Streamed,
                         testing::Values(codec::Dtype::uint8, codec::Dtype::fp16,
                                         codec::Dtype::fp32),
                         [](const auto& p) { return std::string(codec::name_of(p.param)); });

TEST(Cpu, TrainsOnSyntheticBatchesOfItsOwn) {
  const auto cpu = make(train::cpu_kind(), spec_of(device::Feed::synthetic));
  std::vector<device::StepRecord> steps;
  for (int i = 0; i < 2; ++i) cpu->submit(nullptr);
  cpu->collect(steps);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_TRUE(std::isfinite(steps[1].loss));
  cpu->collect(steps);
  EXPECT_EQ(steps.size(), 2u);
}

// The losses of some steps on a batch that is `blackened` once it has been kept.
std::vector<double> resident_losses(bool blackened) {
  const device::StepSpec spec = spec_of(device::Feed::resident);
  const auto cpu = make(train::cpu_kind(), spec);
  const pipeline::BatchLease batch =
      pipeline::SlabRing::make(spec.batch, 1, cpu->slabs())->acquire();
  paint(*batch, spec.batch, 0);
  cpu->keep(*batch);
  if (blackened) std::memset(batch->pixels, 0, spec.batch.bytes());
  for (int i = 0; i < 4; ++i) cpu->submit(nullptr);
  std::vector<device::StepRecord> steps;
  cpu->collect(steps);
  std::vector<double> losses;
  for (const device::StepRecord& step : steps) losses.push_back(step.loss);
  return losses;
}

TEST(Cpu, KeepsAResidentBatchOfItsOwn) {
  const std::vector<double> losses = resident_losses(/*blackened=*/false);
  ASSERT_EQ(losses.size(), 4u);
  EXPECT_NE(losses[0], losses[1]) << "it trains";
  EXPECT_EQ(resident_losses(/*blackened=*/true), losses);
}

TEST(Cpu, NamesTheProcessor) {
  const device::DeviceDescription device =
      make(train::cpu_kind(), spec_of(device::Feed::synthetic))->describe();
  EXPECT_EQ(device.kind, "cpu");
  EXPECT_FALSE(device.name.empty());
  EXPECT_EQ(device.step_ms, 0);
}

TEST(Cpu, RefusesPrecisionsThatItDoesNotHave) {
  for (const char* precision : {"tf32", "fp16", "int8"}) {
    device::StepSpec spec = spec_of(device::Feed::synthetic);
    spec.precision = precision;
    EXPECT_THROW(train::cpu_kind().check("", spec), UsageError);
    EXPECT_THAT(message_of([&] { make(train::cpu_kind(), spec); }),
                AllOf(HasSubstr(precision), HasSubstr("fp32, bf16")));
  }
}

TEST(Cpu, RefusesModelsAndArguments) {
  device::StepSpec spec = spec_of(device::Feed::synthetic);
  EXPECT_THROW(train::cpu_kind().check("1", spec), UsageError);
  spec.model = "resnet51";
  EXPECT_THAT(message_of([&] { train::cpu_kind().check("", spec); }), HasSubstr("resnet50"));
}

TEST(Cpu, NamesALabelThatTheNetworkLacks) {
  const device::StepSpec spec = spec_of(device::Feed::streamed);
  const auto cpu = make(train::cpu_kind(), spec);
  pipeline::BatchLease batch = pipeline::SlabRing::make(spec.batch, 1, cpu->slabs())->acquire();
  paint(*batch, spec.batch, 0);
  batch->labels[3] = kColours;
  EXPECT_THAT(message_of([&] { cpu->submit(std::move(batch)); }), HasSubstr("label 4"));
}

TEST(Cpu, NamesALossThatIsNotANumber) {
  const device::StepSpec spec = spec_of(device::Feed::streamed, codec::Dtype::fp32);
  const auto cpu = make(train::cpu_kind(), spec);
  pipeline::BatchLease batch = pipeline::SlabRing::make(spec.batch, 1, cpu->slabs())->acquire();
  paint(*batch, spec.batch, 0);
  const float nan = NAN;
  std::memcpy(batch->pixels, &nan, sizeof nan);
  cpu->submit(std::move(batch));  // other ranks may be waiting for it to come as far as they are
  EXPECT_TRUE(cpu->has_failed());
  EXPECT_THAT(message_of([&] { cpu->drain(); }), HasSubstr("the loss is NaN"));
}

TEST(Cuda, SaysWhatIsMissingWhereThereIsNoDevice) {
  const device::AcceleratorKind cuda = train::cuda_kind();
  if (cuda.count() > 0) GTEST_SKIP() << "this machine has a CUDA device";
  const device::StepSpec spec = spec_of(device::Feed::synthetic);
  EXPECT_THAT(message_of([&] { cuda.check("", spec); }), HasSubstr("--device cuda"));
  EXPECT_THAT(message_of([&] { make(cuda, spec); }),
              testing::AnyOf(HasSubstr("no CUDA device"), HasSubstr("CPUs only")));
  EXPECT_NE(message_of([&] { cuda.check("first", spec); }), "no error");
}

}  // namespace
}  // namespace feedrate::tests
