#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <vector>

#include "codec/tensor.h"
#include "train/normalise.h"
#include "train/normalise_launch.h"

namespace feedrate::tests {
namespace {

constexpr int kHeight = 16, kWidth = 48;  // 768 pixels: each value of a byte in each channel

at::Tensor all_values() {
  const at::Tensor values = at::arange(256).to(at::kByte).repeat({3});
  return at::stack({values, values.flip(0), values.roll(7)}, 1)
      .reshape({1, kHeight, kWidth, 3})
      .contiguous();
}

at::Tensor normalised_by_host(const at::Tensor& pixels, codec::Dtype dtype, at::ScalarType type) {
  at::Tensor out = at::empty(pixels.sizes(), type);
  codec::normalise(pixels.data_ptr<std::uint8_t>(), kHeight * kWidth, dtype,
                   static_cast<std::byte*>(out.data_ptr()));
  return out.permute({0, 3, 1, 2});
}

TEST(Normaliser, GivesTheHostsValuesBitForBit) {
  const at::Tensor pixels = all_values();
  EXPECT_TRUE(at::equal(train::Normaliser(at::kCPU, at::kFloat)(pixels),
                        normalised_by_host(pixels, codec::Dtype::fp32, at::kFloat)));
  EXPECT_TRUE(at::equal(train::Normaliser(at::kCPU, at::kHalf)(pixels),
                        normalised_by_host(pixels, codec::Dtype::fp16, at::kHalf)));
}

// What becomes of each value of a byte: (256, 3).
at::Tensor table_of(at::ScalarType type) {
  const at::Tensor values =
      at::arange(256, at::kByte).view({1, 256, 1, 1}).expand({1, 256, 1, 3}).contiguous();
  return train::Normaliser(at::kCPU, type)(values)
      .permute({0, 2, 3, 1})
      .reshape({256, 3})
      .contiguous();
}

// The GPU's kernel, run thread by thread on the CPU; sizes that leave one, two and three bytes
// over.
TEST(NormaliseBlocks, GiveTheHostsValuesBitForBit) {
  for (const at::ScalarType type : {at::kFloat, at::kHalf, at::kBFloat16}) {
    const at::Tensor table = table_of(type);
    for (const at::Tensor& pixels : {all_values(), all_values().slice(2, 0, 11).contiguous(),
                                     all_values().slice(1, 0, 1).slice(2, 0, 7).contiguous(),
                                     all_values().slice(1, 0, 1).slice(2, 0, 5).contiguous(),
                                     all_values().repeat({50, 1, 1, 1})}) {
      EXPECT_TRUE(at::equal(train::launch_normalise<models::OnHost>(pixels, table),
                            train::Normaliser(at::kCPU, type)(pixels).permute({0, 2, 3, 1})));
    }
  }
}

// Sides that are odd, and smaller than a block.
TEST(NormaliseBlocks, GiveTheHostsBlocksBitForBit) {
  for (const at::ScalarType type : {at::kFloat, at::kHalf, at::kBFloat16}) {
    for (const at::Tensor& pixels : {all_values(), all_values().slice(2, 0, 11).contiguous(),
                                     all_values().slice(1, 0, 7).repeat({3, 1, 1, 1}),
                                     all_values().slice(1, 0, 1).slice(2, 0, 1).contiguous()}) {
      const at::Tensor blocks =
          train::launch_normalise_space_to_depth<models::OnHost>(pixels, table_of(type));
      const at::Tensor expected = models::space_to_depth(train::Normaliser(at::kCPU, type)(pixels));
      EXPECT_TRUE(at::equal(blocks.permute({0, 3, 1, 2}), expected)) << type << pixels.sizes();
    }
  }
}

TEST(Normaliser, RoundsBfloat16Once) {
  const at::Tensor pixels = all_values();
  const at::Tensor expected =
      normalised_by_host(pixels, codec::Dtype::fp32, at::kFloat).to(at::kBFloat16);
  EXPECT_TRUE(at::equal(train::Normaliser(at::kCPU, at::kBFloat16)(pixels), expected));
}

TEST(Normaliser, OnlyConvertsWhatIsNormalised) {
  const at::Tensor normalised = at::randn({2, 4, 5, 3});
  const at::Tensor input = train::Normaliser(at::kCPU, at::kFloat)(normalised);
  EXPECT_TRUE(at::equal(input, normalised.permute({0, 3, 1, 2})));
  EXPECT_NE(input.data_ptr(), normalised.data_ptr());  // the slab may be filled again
  EXPECT_EQ(train::Normaliser(at::kCPU, at::kBFloat16)(normalised.to(at::kHalf)).scalar_type(),
            at::kBFloat16);
}

TEST(Normaliser, LeavesChannelsLast) {
  const at::Tensor input = train::Normaliser(at::kCPU, at::kFloat)(all_values());
  EXPECT_EQ(input.sizes(), (std::vector<std::int64_t>{1, 3, kHeight, kWidth}));
  EXPECT_TRUE(input.is_contiguous(at::MemoryFormat::ChannelsLast));
}

}  // namespace
}  // namespace feedrate::tests
