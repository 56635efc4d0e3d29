#include "train/synthetic.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <vector>

#include "data_gen/drawn_batch.h"
#include "models/space_to_depth.h"
#include "ranks/thread_groups.h"

namespace feedrate::tests {
namespace {

constexpr device::DrawPictures kNoise = nullptr;

device::StepSpec ring_spec(device::DrawPictures draw) {
  device::StepSpec spec{.batch = {.batch_size = 8, .size = {32, 24}}, .classes = 10, .seed = 1};
  spec.draw = draw;
  return spec;
}

// The inputs of all slots, one behind the other.
at::Tensor ring_inputs(const device::StepSpec& spec, at::ScalarType type = at::kFloat) {
  const train::SyntheticRing ring(spec, type, at::kCPU);
  std::vector<at::Tensor> inputs;
  for (std::size_t slot = 0; slot < ring.slots(); ++slot) inputs.push_back(ring[slot].input);
  return at::cat(inputs);
}

// How far neighbours in a row differ: 1 in noise, 0 in a flat picture.
double roughness(const at::Tensor& images) {
  const std::int64_t width = images.size(3);
  const at::Tensor steps = images.narrow(3, 1, width - 1) - images.narrow(3, 0, width - 1);
  return (steps.square().mean() / (2 * images.var())).item<double>();
}

TEST(SyntheticRing, ShowsPicturesOrNoise) {
  for (const auto draw : {kNoise, &data_gen::draw_batch}) {
    device::StepSpec spec = ring_spec(draw);
    spec.batch.batch_size = 32;
    const at::Tensor images = ring_inputs(spec);
    EXPECT_EQ(images.sizes(), (std::vector<std::int64_t>{4 * 32, 3, 24, 32}));
    EXPECT_NEAR(images.mean().item<double>(), 0, 0.35);
    EXPECT_NEAR(images.var().item<double>(), 1, 0.4);
    if (draw == kNoise) {
      EXPECT_NEAR(roughness(images), 1, 0.1);
    } else {
      EXPECT_LT(roughness(images), 0.25);
    }
  }
}

TEST(SyntheticRing, HangsOnItsSeedAlone) {
  for (const auto draw : {kNoise, &data_gen::draw_batch}) {
    const device::StepSpec spec = ring_spec(draw);
    EXPECT_TRUE(at::equal(ring_inputs(spec), ring_inputs(spec)));
    const train::SyntheticRing one(spec, at::kFloat, at::kCPU), again(spec, at::kFloat, at::kCPU);
    EXPECT_TRUE(at::equal(one[0].labels, again[0].labels));
    EXPECT_FALSE(at::equal(one[0].input, one[1].input));
    EXPECT_LT(one[0].labels.max().item<std::int64_t>(), spec.classes);
  }
}

TEST(SyntheticRing, IsAnotherInEachRank) {
  const auto groups = ranks::make_thread_groups(2);
  for (const auto draw : {kNoise, &data_gen::draw_batch}) {
    const train::SyntheticRing first(train::of_rank(ring_spec(draw), *groups[0]), at::kFloat,
                                     at::kCPU),
        second(train::of_rank(ring_spec(draw), *groups[1]), at::kFloat, at::kCPU);
    EXPECT_FALSE(at::equal(first[0].input, second[0].input));
    EXPECT_FALSE(at::equal(first[0].labels, second[0].labels));
  }
}

TEST(SyntheticRing, RoundsPicturesOnce) {
  const device::StepSpec spec = ring_spec(data_gen::draw_batch);
  EXPECT_TRUE(at::equal(ring_inputs(spec, at::kBFloat16), ring_inputs(spec).to(at::kBFloat16)));
}

TEST(SyntheticRing, LiesAsTheNetworkReadsIt) {
  device::StepSpec spec = ring_spec(data_gen::draw_batch);
  const at::Tensor plain = ring_inputs(spec);
  const auto first = [&] { return train::SyntheticRing(spec, at::kFloat, at::kCPU)[0].input; };
  EXPECT_TRUE(first().is_contiguous(at::MemoryFormat::ChannelsLast));
  spec.step.channels_last = false;
  EXPECT_TRUE(first().is_contiguous());
  EXPECT_TRUE(at::equal(ring_inputs(spec), plain));
  spec.step = {.space_to_depth = true};
  EXPECT_TRUE(at::equal(ring_inputs(spec), models::space_to_depth(plain)));
}

// Beside a cell's own batches, whatever these are: its ceiling is the same.
TEST(SyntheticRing, DoesNotLookAtHowBatchesLieOnTheHost) {
  for (const auto draw : {kNoise, &data_gen::draw_batch}) {
    device::StepSpec spec = ring_spec(draw);
    const at::Tensor plain = ring_inputs(spec);
    spec.batch.dtype = codec::Dtype::fp16;
    spec.batch.normalisation = codec::Normalisation::unit;
    spec.batch.encoded_slot = 4096;
    EXPECT_TRUE(at::equal(ring_inputs(spec), plain));
    spec.augmentation = {.output = spec.batch.size};
    spec.batch.size = {64, 48};
    EXPECT_TRUE(at::equal(ring_inputs(spec), plain)) << "the stored size is not the network's";
  }
}

}  // namespace
}  // namespace feedrate::tests
