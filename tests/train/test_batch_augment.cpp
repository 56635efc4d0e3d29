#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <vector>

#include "pipeline/jitter.h"
#include "pipeline/resize.h"
#include "train/augment_launch.h"
#include "train/batch_augment.h"
#include "train/input_maker.h"

namespace feedrate::tests {
namespace {

using pipeline::ResizeFilter;
constexpr codec::PixelSize kStored{60, 45}, kOutput{32, 24};

// Smooth, so that a pixel's place shows in its value.
at::Tensor augment_pictures(int count) {
  at::manual_seed(1);
  const at::Tensor coarse = at::rand({count, 3, 6, 8}) * 255;
  return at::upsample_bicubic2d(coarse, {kStored.height, kStored.width}, false)
      .clamp(0, 255)
      .to(at::kByte)
      .permute({0, 2, 3, 1})
      .contiguous();
}

at::Tensor by_host(const at::Tensor& picture, const pipeline::Augmentation& by,
                   pipeline::ResizeFilter filter) {
  at::Tensor out = at::empty({kOutput.height, kOutput.width, 3}, at::kByte);
  const codec::Rect& w = by.window;
  const std::ptrdiff_t stride = 3 * kStored.width;
  pipeline::Resizer().resize(
      codec::DecodedWindow(
          {picture.data_ptr<std::uint8_t>() + w.y * stride + 3 * w.x, stride, w.width, w.height}),
      kOutput, by.flip, filter, out.data_ptr<std::uint8_t>());
  pipeline::jitter_colours(out.data_ptr<std::uint8_t>(), kOutput.width * kOutput.height, by.jitter);
  return out;
}

std::vector<pipeline::Augmentation> draws(int count, bool jitter) {
  std::vector<pipeline::Augmentation> all;
  for (int i = 0; i < count; ++i)
    all.push_back(
        pipeline::draw_augmentation({.jitter = jitter}, kStored, static_cast<std::uint64_t>(i)));
  all[0] = {{0, 0, kStored.width, kStored.height}, true, {}};
  all[1] = {{59, 44, 1, 1}, false, {}};  // a single pixel, at the corner
  return all;
}

struct Way {
  ResizeFilter filter;
  bool jitter;
};
constexpr Way kWays[] = {{ResizeFilter::bilinear, false},
                         {ResizeFilter::antialias, false},
                         {ResizeFilter::bilinear, true},
                         {ResizeFilter::antialias, true}};

TEST(BatchAugmenter, MakesWhatAWorkerMakesOfEachSample) {
  const at::Tensor batch = augment_pictures(40);
  for (const auto& [filter, jitter] : kWays) {
    const auto by = draws(40, jitter);
    const train::BatchAugmenter augment(at::kCPU, {kOutput, filter, jitter});
    const at::Tensor made = augment(batch, augment.parameters(by));
    EXPECT_TRUE(made.is_contiguous());
    ASSERT_EQ(made.sizes(), (std::vector<std::int64_t>{40, kOutput.height, kOutput.width, 3}));
    for (int i = 0; i < 40; ++i) {
      EXPECT_TRUE(at::equal(made[i], by_host(batch[i], by[static_cast<std::size_t>(i)], filter)))
          << i;
    }
  }
}

at::Tensor by_blocks(const at::Tensor& batch, const std::vector<pipeline::Augmentation>& by,
                     codec::PixelSize output, Way way) {
  return train::launch_augment<models::OnHost>(
      {.pictures = batch,
       .drawn = train::BatchAugmenter(at::kCPU, {output}).parameters(by),
       .height = output.height,
       .width = output.width,
       .antialias = way.filter == ResizeFilter::antialias,
       .jitter = way.jitter});
}

// The GPU's kernels, run thread by thread on the CPU: sizes that shrink, grow and leave a picture
// as it is, also to single pixels.
TEST(AugmentBlocks, ResizeAsAWorkerDoes) {
  const at::Tensor batch = augment_pictures(40);
  const auto by = draws(40, false);
  for (const codec::PixelSize output :
       {kOutput, kStored, codec::PixelSize{200, 3}, {1, 90}, {7, 7}, {1, 1}}) {
    for (const ResizeFilter filter : {ResizeFilter::bilinear, ResizeFilter::antialias}) {
      const train::BatchAugmenter augment(at::kCPU, {output, filter});
      const at::Tensor expected = augment(batch, augment.parameters(by)).to(at::kFloat);
      const at::Tensor difference =
          (by_blocks(batch, by, output, {filter, false}).to(at::kFloat) - expected).abs();
      EXPECT_LE(difference.max().item<float>(), 1) << codec::to_string(output);
      EXPECT_LE(difference.mean().item<float>(), 0.2) << codec::to_string(output);
    }
  }
}

// Of the same resized bytes, so that only a sum's rounding differs; the first picture is changed by
// no factor.
TEST(AugmentBlocks, JitterAsAWorkerDoes) {
  const at::Tensor batch = augment_pictures(40);
  const auto by = draws(40, true);
  for (const codec::PixelSize output : {kOutput, kStored, codec::PixelSize{1, 1}}) {
    at::Tensor expected = by_blocks(batch, by, output, {ResizeFilter::antialias, false});
    const at::Tensor made = by_blocks(batch, by, output, {ResizeFilter::antialias, true});
    EXPECT_TRUE(at::equal(made[0], expected[0]));
    for (int i = 0; i < 40; ++i) {
      pipeline::jitter_colours(expected[i].data_ptr<std::uint8_t>(),
                               static_cast<std::size_t>(output.width) * output.height,
                               by[static_cast<std::size_t>(i)].jitter);
    }
    const at::Tensor difference = (made.to(at::kFloat) - expected.to(at::kFloat)).abs();
    EXPECT_LE(difference.max().item<float>(), 1) << codec::to_string(output);
    EXPECT_LE(difference.mean().item<float>(), 1e-4) << codec::to_string(output);
  }
}

TEST(InputMaker, NormalisesWhatWasAugmented) {
  const at::Tensor batch = augment_pictures(4);
  device::StepSpec spec{.batch = {4, kStored, codec::Dtype::uint8},
                        .augmentation = {{.output = kOutput}}};
  pipeline::HostBatch host;
  host.augmentations = draws(4, false);
  const train::InputMaker make(spec, at::kCPU, at::kFloat);
  const at::Tensor input = make(batch, make.parameters(host));
  EXPECT_TRUE(input.is_contiguous(at::MemoryFormat::ChannelsLast));
  const at::Tensor pixels =
      at::stack({by_host(batch[0], host.augmentations[0], ResizeFilter::antialias),
                 by_host(batch[1], host.augmentations[1], ResizeFilter::antialias),
                 by_host(batch[2], host.augmentations[2], ResizeFilter::antialias),
                 by_host(batch[3], host.augmentations[3], ResizeFilter::antialias)});
  EXPECT_TRUE(at::equal(input, train::Normaliser(at::kCPU, at::kFloat)(pixels)));
}

// As the pictures lie, augmented or not, and of other types.
TEST(InputMaker, MakesBlocksOfTheSamePixels) {
  const at::Tensor bytes = augment_pictures(4);
  pipeline::HostBatch host;
  host.augmentations = draws(4, false);
  for (const bool augments : {false, true}) {
    device::StepSpec spec{.batch = {4, kStored, codec::Dtype::uint8}};
    if (augments) spec.augmentation = {{.output = kOutput}};
    for (const at::Tensor& batch : {bytes, bytes.to(at::kHalf)}) {
      if (augments && batch.scalar_type() != at::kByte) continue;
      const train::InputMaker pixels(spec, at::kCPU, at::kFloat);
      spec.step.space_to_depth = true;
      const train::InputMaker blocks(spec, at::kCPU, at::kFloat);
      spec.step.space_to_depth = false;
      const at::Tensor made = blocks(batch, blocks.parameters(host));
      EXPECT_TRUE(made.is_contiguous(at::MemoryFormat::ChannelsLast));
      EXPECT_TRUE(at::equal(made, models::space_to_depth(pixels(batch, pixels.parameters(host)))));
    }
  }
}

TEST(InputMaker, WithoutAugmentationIsTheNormaliser) {
  const at::Tensor batch = augment_pictures(3);
  const train::InputMaker make({.batch = {3, kStored, codec::Dtype::uint8}}, at::kCPU, at::kHalf);
  EXPECT_TRUE(
      at::equal(make(batch, make.parameters({})), train::Normaliser(at::kCPU, at::kHalf)(batch)));
}

}  // namespace
}  // namespace feedrate::tests
