#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "models/batch_norm_launch.h"

// The GPU's kernels, run block by block and thread by thread on the CPU, against the CPU's own.
namespace feedrate::tests {
namespace {

using at::Tensor;
using models::batch_norm::Tiles;
using models::batch_norm::tiles_for;

const models::BatchNormKernels& kBlocks = models::batch_norm::kLaunched<models::OnHost>;

// Each row and pack belongs to one thread of one block.
TEST(Tiles, CoverEveryPackOnce) {
  for (const auto& [rows, channels, width, blocks] :
       std::vector<std::array<int, 4>>{{1, 8, 8, 8},
                                       {7, 24, 8, 8},
                                       {1000, 64, 8, 528},
                                       {1000, 64, 4, 3},
                                       {33, 2048, 8, 528},
                                       {50, 264, 8, 1},
                                       {5, 4, 4, 528}}) {
    const Tiles tiles = tiles_for(rows, channels, width, blocks);
    EXPECT_EQ(tiles.across * tiles.down, Tiles::kThreads);
    EXPECT_LE(tiles.grid.x * tiles.grid.y, std::max(blocks, tiles.grid.x));
    std::vector<int> visits(static_cast<std::size_t>(rows) * tiles.packs);
    models::Place place;
    for (place.block_y = 0; place.block_y < tiles.grid.y; ++place.block_y) {
      for (place.block_x = 0; place.block_x < tiles.grid.x; ++place.block_x) {
        for (place.thread = 0; place.thread < Tiles::kThreads; ++place.thread) {
          if (tiles.pack(place) >= tiles.packs) continue;
          for (auto row = tiles.first_row(place); row < rows; row += tiles.row_step())
            ++visits[row * tiles.packs + tiles.pack(place)];
        }
      }
    }
    EXPECT_EQ(visits, std::vector<int>(visits.size(), 1)) << rows << " x " << channels;
  }
}

// A block reads as much side by side as a warp can, and fills the GPU where there is enough to do.
TEST(Tiles, FitTheShapesOfResNet) {
  const int blocks = 4 * 132;
  EXPECT_EQ(tiles_for(256 * 112 * 112, 64, 8, blocks).across, 8);
  EXPECT_EQ(tiles_for(256 * 112 * 112, 64, 8, blocks).grid.y, blocks);
  EXPECT_EQ(tiles_for(256 * 7 * 7, 2048, 8, blocks).across, 32);
  EXPECT_EQ(tiles_for(256 * 7 * 7, 2048, 8, blocks).grid.x, 8);
  EXPECT_EQ(tiles_for(256 * 7 * 7, 2048, 8, blocks).grid.y, blocks / 8);
}

struct Case {
  std::int64_t pictures, channels, side;
  at::ScalarType type;
};

class Blocks : public ::testing::TestWithParam<Case> {
 protected:
  Tensor some() const {
    const Case& c = GetParam();
    return at::randn({c.pictures, c.channels, c.side, c.side})
        .contiguous(at::MemoryFormat::ChannelsLast)
        .to(c.type);
  }
};

double distance(const Tensor& a, const Tensor& b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).norm().item<double>() /
         b.to(at::kDouble).norm().item<double>();
}

// Float activations for the CPU's kernels where they have no such type: the values are the same.
Tensor for_cpu(const Tensor& t) {
  return t.defined() && t.scalar_type() == at::kHalf ? t.to(at::kFloat) : t;
}

TEST_P(Blocks, DoWhatTheCpuDoes) {
  at::manual_seed(2);
  const double bound = GetParam().type == at::kFloat  ? 5e-6
                       : GetParam().type == at::kHalf ? 1e-3
                                                      : 6e-3;
  const auto channels = GetParam().channels;
  const Tensor x = some(), shortcut = some(), gradient = some(), other = some();
  const Tensor weight = at::rand({channels}) + 0.5, bias = at::randn({channels}) * 0.5;
  struct Form {
    bool relu, add, other;
  };
  for (const Form form : {Form{false, false, false}, Form{true, false, false},
                          Form{true, true, false}, Form{true, true, true}}) {
    const auto run = [&](const models::BatchNormKernels& kernels, const auto& given) {
      const models::BatchNormState state{weight, bias, at::zeros({channels}), at::ones({channels})};
      models::BatchNormSaved saved{
          .x = given(x), .weight = weight, .bias = bias, .relu = form.relu};
      kernels.statistics(saved, state);
      const Tensor y = kernels.normalise(saved, form.add ? given(shortcut) : Tensor());
      Tensor through;
      const Tensor sums =
          kernels.reduce(saved, given(gradient), form.other ? given(other) : Tensor(), through);
      const Tensor of_x =
          kernels.input_gradient(saved, through.defined() ? through : given(gradient), sums);
      std::vector<Tensor> all{
          saved.mean, saved.invstd, state.running_mean, state.running_var, y, sums[0],
          sums[1],    of_x};
      if (form.add) all.push_back(through);
      return all;
    };
    const auto ours = run(kBlocks, [](const Tensor& t) { return t; });
    const auto expected = run(models::kCpuBatchNorm, for_cpu);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      EXPECT_LT(distance(ours[i], expected[i]), bound)
          << "result " << i << ", relu " << form.relu << ", add " << form.add;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Blocks,
                         ::testing::Values(Case{2, 8, 3, at::kFloat}, Case{3, 64, 14, at::kFloat},
                                           Case{2, 2048, 3, at::kFloat},
                                           Case{5, 24, 9, at::kBFloat16},
                                           Case{2, 256, 14, at::kBFloat16},
                                           Case{5, 24, 9, at::kHalf}, Case{2, 512, 7, at::kHalf}));

TEST(BlocksTake, WholePacksOfChannels) {
  EXPECT_TRUE(kBlocks.takes(at::kFloat, 4));
  EXPECT_FALSE(kBlocks.takes(at::kHalf, 4));
  EXPECT_TRUE(kBlocks.takes(at::kBFloat16, 64));
  EXPECT_FALSE(kBlocks.takes(at::kDouble, 64));
}

}  // namespace
}  // namespace feedrate::tests
