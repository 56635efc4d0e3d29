#include "train/batch_mask.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "codec/tensor.h"
#include "pipeline/mask_colour.h"
#include "train/input_maker.h"

namespace feedrate::tests {
namespace {

using pipeline::MaskColour;
// Rows of two words and a part, in the picture and in the crop; nothing divides by 64.
constexpr codec::PixelSize kMaskStored{150, 45}, kMaskOutput{70, 24};
constexpr int kMaskPictures = 12;

at::Tensor mask_pictures() {
  at::manual_seed(1);
  return at::randint(0, 256, {kMaskPictures, kMaskStored.height, kMaskStored.width, 3}, at::kByte);
}

std::vector<pipeline::Augmentation> mask_draws(MaskColour order) {
  pipeline::AugmentPolicy policy;
  policy.mask_colour = order, policy.crop = kMaskOutput;
  std::vector<pipeline::Augmentation> all;
  for (std::uint64_t i = 0; i < kMaskPictures; ++i)
    all.push_back(pipeline::draw_augmentation(policy, kMaskStored, i));
  // The corners, and seeds whose sums leave the range of signed integers.
  all[0].window = {0, 0, kMaskOutput.width, kMaskOutput.height};
  all[1].window.x = kMaskStored.width - kMaskOutput.width;
  all[1].window.y = kMaskStored.height - kMaskOutput.height;
  all[2].mask_seed = 0x7fffffffffffffff, all[3].mask_seed = 0xffffffffffffffff;
  return all;
}

at::Tensor window_of(const at::Tensor& picture, const codec::Rect& w) {
  return picture.slice(0, w.y, w.y + w.height).slice(1, w.x, w.x + w.width).contiguous();
}

at::Tensor masked(const at::Tensor& picture, std::uint64_t seed) {
  at::Tensor out = at::empty_like(picture);
  const auto height = static_cast<int>(picture.size(0)), width = static_cast<int>(picture.size(1));
  pipeline::MaskColourer().apply({picture.const_data_ptr<std::uint8_t>(), 3 * width, width, height},
                                 seed, out.mutable_data_ptr<std::uint8_t>());
  return out;
}

at::Tensor masked_by_host(const at::Tensor& picture, const pipeline::Augmentation& by) {
  return by.mask_colour == MaskColour::cropped
             ? masked(window_of(picture, by.window), by.mask_seed)
             : window_of(masked(picture, by.mask_seed), by.window);
}

TEST(BatchMask, MakesTheBytesThatAWorkerMakesOfEachSample) {
  const at::Tensor batch = mask_pictures();
  for (const MaskColour order : {MaskColour::cropped, MaskColour::whole}) {
    const auto by = mask_draws(order);
    const train::BatchMask mask(at::kCPU, {.output = kMaskOutput, .mask_colour = order});
    const at::Tensor made = mask(batch, mask.parameters(by));
    EXPECT_TRUE(made.is_contiguous());
    EXPECT_EQ(made.scalar_type(), at::kByte);
    ASSERT_EQ(made.sizes(),
              (std::vector<std::int64_t>{kMaskPictures, kMaskOutput.height, kMaskOutput.width, 3}));
    for (int i = 0; i < kMaskPictures; ++i) {
      const at::Tensor expected = masked_by_host(batch[i], by[static_cast<std::size_t>(i)]);
      EXPECT_TRUE(at::equal(made[i], expected))
          << i << ": " << (made[i].to(at::kFloat) - expected).abs().max().item<float>();
    }
  }
}

// The network's input has the bits of a batch that a worker has masked and normalised.
TEST(InputMaker, DividesWhatWasMaskedBy255) {
  const at::Tensor batch = mask_pictures();
  const auto by = mask_draws(MaskColour::cropped);
  device::StepSpec spec{
      .batch = {kMaskPictures, kMaskStored, codec::Dtype::uint8, 0, codec::Normalisation::unit},
      .augmentation = {{.output = kMaskOutput, .mask_colour = MaskColour::cropped}}};
  pipeline::HostBatch host;
  host.augmentations = by;
  const train::InputMaker make(spec, at::kCPU, at::kFloat);
  const at::Tensor input = make(batch, make.parameters(host));
  EXPECT_TRUE(input.is_contiguous(at::MemoryFormat::ChannelsLast));
  const std::int64_t pixels = std::int64_t{kMaskOutput.width} * kMaskOutput.height;
  for (int i = 0; i < kMaskPictures; ++i) {
    const at::Tensor bytes = masked_by_host(batch[i], by[static_cast<std::size_t>(i)]);
    at::Tensor expected = at::empty({kMaskOutput.height, kMaskOutput.width, 3}, at::kFloat);
    codec::normalise(bytes.const_data_ptr<std::uint8_t>(), static_cast<std::size_t>(pixels),
                     codec::Dtype::fp32, static_cast<std::byte*>(expected.mutable_data_ptr()),
                     codec::Normalisation::unit);
    EXPECT_TRUE(at::equal(input[i].permute({1, 2, 0}), expected)) << i;
  }
}

// Batches that workers have masked come as pixels, and are divided as well.
TEST(InputMaker, DividesPixelsBy255WhereTheBatchAsksForIt) {
  const at::Tensor batch = mask_pictures();
  const train::InputMaker make(
      {.batch = {kMaskPictures, kMaskStored, codec::Dtype::uint8, 0, codec::Normalisation::unit}},
      at::kCPU, at::kFloat);
  EXPECT_TRUE(at::equal(make(batch, make.parameters({})),
                        at::div(batch, at::full({1}, 255.0f)).permute({0, 3, 1, 2})));
}

}  // namespace
}  // namespace feedrate::tests
