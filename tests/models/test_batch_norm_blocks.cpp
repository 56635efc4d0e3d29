#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "models/batch_norm_blocks.h"
#include "models/batch_norm_kernels.h"
#include "models/batch_norm_tiles.h"

// How the GPU's kernels lie over their data. What they compute: test_fused_batch_norm.cpp.
namespace feedrate::tests {
namespace {

using models::batch_norm::Tiles;
using models::batch_norm::tiles_for;

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

// The most threads of a warp that ask one bank for different places.
int most_at_a_bank(const std::vector<int>& places) {
  std::map<int, std::set<int>> at_bank;
  std::size_t most = 0;
  for (const int place : places) {
    std::set<int>& here = at_bank[place % 32];
    here.insert(place);
    most = std::max(most, here.size());
  }
  return static_cast<int>(most);
}

template <int kWidth>
void expect_that_no_bank_is_asked_twice() {
  using Sums = models::batch_norm::TwoSums<kWidth>;
  for (int warp = 0; warp < Tiles::kThreads; warp += 32) {
    for (int column = 0; column < Sums::kColumns; ++column) {
      std::vector<int> put, folded;
      for (int thread = warp; thread < warp + 32; ++thread) {
        put.push_back(Sums::place_of(column, thread));
        folded.push_back(Sums::place_of(thread % Sums::kColumns, thread / Sums::kColumns));
      }
      EXPECT_EQ(most_at_a_bank(put), 1) << kWidth;
      EXPECT_EQ(most_at_a_bank(folded), 1) << kWidth;
    }
  }
}

TEST(SumsOfABlock, AskNoBankTwice) {
  expect_that_no_bank_is_asked_twice<4>();
  expect_that_no_bank_is_asked_twice<8>();
}

TEST(BlocksTake, WholePacksOfChannels) {
  EXPECT_TRUE(models::host_batch_norm()->takes(at::kFloat, 4));
  EXPECT_FALSE(models::host_batch_norm()->takes(at::kHalf, 4));
  EXPECT_TRUE(models::host_batch_norm()->takes(at::kBFloat16, 64));
  EXPECT_FALSE(models::host_batch_norm()->takes(at::kDouble, 64));
}

}  // namespace
}  // namespace feedrate::tests
