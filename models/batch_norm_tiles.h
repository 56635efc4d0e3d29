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

  // use(row, load(row)) for each row of a thread. kAhead of them are loaded before the first is
  // used: a memory's latency is hidden by what is on its way, and one pack of each thread is too
  // little for it.
  template <int kAhead, typename Load, typename Use>
  C10_HOST_DEVICE void each_row(Place place, const Load& load, const Use& use) const {
    const std::int64_t step = row_step();
    for (std::int64_t row = first_row(place); row < rows; row += kAhead * step) {
      decltype(load(row)) loaded[kAhead];
      for (int i = 0; i < kAhead; ++i) {
        const std::int64_t at = row + i * step;
        loaded[i] = load(at < rows ? at : row);  // without a branch, which would wait
      }
      for (int i = 0; i < kAhead; ++i)
        if (row + i * step < rows) use(row + i * step, loaded[i]);
    }
  }
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
