#pragma once
#include <cmath>
#include <cstdint>

#include "models/batch_norm_blocks.h"

// The GPU's batch normalisation with a ReLU and a max pooling of 3x3 with stride 2 behind it, as
// kernels of blocks.h: neither the normalised values nor their gradients are ever in memory.
namespace feedrate::models::batch_norm {

// Where the windows lie: (N, height, width) values of a channel become (N, down, across).
struct Windows {
  int height = 0, width = 0, down = 0, across = 0;

  static constexpr int kSide = 3, kStride = 2, kPadding = 1;
  static constexpr int along(int values) { return (values - 1) / kStride + 1; }
};

// For each value of a window that is the largest in it: its place, row by row.
template <int kWidth>
struct alignas(kWidth) Places {
  std::uint8_t values[kWidth];
};

// As LibTorch's: the first of equal ones is the largest, a NaN larger than all. Values are compared
// as they would have been stored.
template <typename T>
struct NormaliseAndPool {
  static constexpr int kThreads = Tiles::kThreads, kPhases = 1, kWidth = Pack<T>::kWidth;
  struct Shared {};
  Tiles tiles;  // of the output
  Channels channels;
  Windows windows;
  const Pack<T>* x = nullptr;
  Pack<T>* y = nullptr;
  Places<kWidth>* where = nullptr;

  template <int kPhase>
  C10_HOST_DEVICE void phase(Place place, Shared&) const {
    const int pack = tiles.pack(place);
    if (pack >= tiles.packs) return;
    const Affine<kWidth> affine(channels, pack * kWidth);
    for (std::int64_t row = tiles.first_row(place); row < tiles.rows; row += tiles.row_step())
      pool(row, pack, affine);
  }

 private:
  C10_HOST_DEVICE void pool(std::int64_t row, int pack, const Affine<kWidth>& affine) const {
    const unsigned at = static_cast<unsigned>(row), across = static_cast<unsigned>(windows.across),
                   down = static_cast<unsigned>(windows.down);
    const int left = static_cast<int>(at % across) * Windows::kStride - Windows::kPadding,
              top = static_cast<int>(at / across % down) * Windows::kStride - Windows::kPadding;
    const std::int64_t picture = at / across / down;
    float largest[kWidth];
    Places<kWidth> places{};
    for (int i = 0; i < kWidth; ++i) largest[i] = -INFINITY;
    for (int tap = 0; tap < Windows::kSide * Windows::kSide; ++tap) {
      const int v = top + tap / Windows::kSide, h = left + tap % Windows::kSide;
      if (v < 0 || v >= windows.height || h < 0 || h >= windows.width) continue;
      const Pack<T> in =
          x[((picture * windows.height + v) * windows.width + h) * tiles.packs + pack];
      for (int i = 0; i < kWidth; ++i) {
        const float value = static_cast<float>(in.values[i]) * affine.scale[i] + affine.shift[i];
        const float stored = static_cast<float>(static_cast<T>(value < 0 ? 0 : value));
        if (!(stored > largest[i]) && stored == stored) continue;
        largest[i] = stored;
        places.values[i] = static_cast<std::uint8_t>(tap);
      }
    }
    Pack<T> out;
    for (int i = 0; i < kWidth; ++i) out.values[i] = static_cast<T>(largest[i]);
    y[row * tiles.packs + pack] = out;
    where[row * tiles.packs + pack] = places;
  }
};

// A GradientSource: the gradient in front of the pooling, of that behind it.
template <typename T>
struct Unpooled {
  static constexpr int kWidth = Pack<T>::kWidth, kAhead = 1, kResident = 512;
  struct Loaded {
    float values[kWidth];
    C10_HOST_DEVICE float operator[](int i) const { return values[i]; }
  };
  Windows windows;
  int packs = 0;
  const Pack<T>* gradient = nullptr;
  const Places<kWidth>* where = nullptr;

  // A value lies in one window along each side, or in two, where its place is odd.
  C10_HOST_DEVICE Loaded load(std::int64_t row, int pack) const {
    const unsigned at = static_cast<unsigned>(row), width = static_cast<unsigned>(windows.width),
                   height = static_cast<unsigned>(windows.height);
    const int h = static_cast<int>(at % width), v = static_cast<int>(at / width % height);
    const std::int64_t picture = at / width / height;
    Loaded sum{};
    for (int window = 0; window < 4; ++window) {  // all four loads may begin before the first ends
      const int y = v / 2 + window / 2, x = h / 2 + window % 2;
      if (y > (v + 1) / 2 || y >= windows.down || x > (h + 1) / 2 || x >= windows.across) continue;
      const int tap = (v - 2 * y + 1) * Windows::kSide + h - 2 * x + 1;
      const std::int64_t from = ((picture * windows.down + y) * windows.across + x) * packs + pack;
      const Pack<T> given = gradient[from];
      const Places<kWidth> places = where[from];
      for (int i = 0; i < kWidth; ++i)
        sum.values[i] += places.values[i] == tap ? static_cast<float>(given.values[i]) : 0;
    }
    return sum;
  }
};

}  // namespace feedrate::models::batch_norm
