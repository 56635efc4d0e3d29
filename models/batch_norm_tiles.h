#pragma once
#include <algorithm>
#include <cstdint>

#include "models/blocks.h"

namespace feedrate::models::batch_norm {

// How a block's threads lie over rows x channels: `across` packs of channels side by side, the rest
// below one another. The blocks of one column of the grid share its rows: block y takes every
// `grid.y`-th band of `down` rows.
struct Tiles {
  static constexpr int kThreads = 256;
  std::int64_t rows = 0;
  int channels = 0, packs = 0;  // packs in a row
  int across = 1, down = kThreads;
  Grid grid;

  C10_HOST_DEVICE int pack(Place place) const {
    return place.block_x * across + place.thread % across;
  }
  C10_HOST_DEVICE std::int64_t first_row(Place place) const {
    return static_cast<std::int64_t>(place.block_y) * down + place.thread / across;
  }
  C10_HOST_DEVICE std::int64_t row_step() const { return static_cast<std::int64_t>(grid.y) * down; }
};

// `width`: channels in a pack; divides `channels`. `blocks`: about as many as the GPU runs at once.
inline Tiles tiles_for(std::int64_t rows, int channels, int width, int blocks) {
  Tiles tiles;
  tiles.rows = rows;
  tiles.channels = channels;
  tiles.packs = channels / width;
  while (tiles.across < 32 && tiles.across < tiles.packs)
    tiles.across *= 2;  // a warp reads 512 bytes of a row, or whole rows
  tiles.down = Tiles::kThreads / tiles.across;
  tiles.grid.x = (tiles.packs + tiles.across - 1) / tiles.across;
  constexpr std::int64_t kLeastRows = 4;  // of a thread: fewer do not pay for its start
  const std::int64_t bands = (rows + tiles.down * kLeastRows - 1) / (tiles.down * kLeastRows);
  tiles.grid.y =
      static_cast<int>(std::clamp<std::int64_t>(bands, 1, std::max(1, blocks / tiles.grid.x)));
  return tiles;
}

}  // namespace feedrate::models::batch_norm
