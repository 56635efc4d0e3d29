#pragma once
#include <cmath>
#include <cstdint>

#include "models/batch_norm_blocks.h"

// The GPU's batch normalisation with a ReLU and a max pooling of 3x3 with stride 2 and padding 1
// behind it, as kernels of blocks.h: what is normalised and not chosen is never in memory, nor are
// the gradients in front of the pooling.
namespace feedrate::models::batch_norm {

// Where the windows lie: (N, height, width) values of a channel become (N, down, across). Window
// (y, x) has its middle at value (2 y, 2 x).
struct Windows {
  int height = 0, width = 0, down = 0, across = 0;

  static constexpr int along(int values) { return (values + 1) / 2; }
};

// A window of a picture, by its number among all of them.
struct Window {
  std::int64_t picture;
  int y, x;

  C10_HOST_DEVICE Window(const Windows& windows, std::int64_t number) {
    const unsigned n = static_cast<unsigned>(number),
                   across = static_cast<unsigned>(windows.across),
                   down = static_cast<unsigned>(windows.down);
    x = static_cast<int>(n % across);
    y = static_cast<int>(n / across % down);
    picture = n / across / down;
  }
};

// For each channel of a pack, which of a window's nine values was chosen, row by row; kCut where
// the ReLU has cut it, so that none has a gradient.
template <int kWidth>
struct alignas(kWidth) Places {
  static constexpr std::uint8_t kCut = 9;
  std::uint8_t values[kWidth];
};

// Normalising keeps the order of values, or turns it round, and rounding and ReLU keep it: so the
// largest x is chosen, or the smallest where the scale is negative, and only that is normalised.
// Of equal x the first; LibTorch takes the first of equal results. A NaN in a channel makes its
// statistics NaN, and so all of its results.
template <typename T>
struct NormaliseAndPool {
  static constexpr int kThreads = Tiles::kThreads, kPhases = 1, kWidth = Pack<T>::kWidth;
  static constexpr int kResident = 768;
  struct Shared {};
  Tiles tiles;  // of the output
  Channels channels;
  Windows windows;
  const Pack<T>* x = nullptr;
  Pack<T>*y = nullptr, *chosen = nullptr;  // the output; the x that it was made of
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
    const Window window(windows, row);
    const Pack<T>* const picture =
        x + window.picture * windows.height * windows.width * tiles.packs + pack;
    // All nine are loaded before the first is looked at: in place of one outside, the middle.
    Pack<T> in[9];
    bool inside[9];
    for (int tap = 0; tap < 9; ++tap) {
      const int down = tap / 3 - 1, across = tap % 3 - 1;
      const int v = 2 * window.y + down, h = 2 * window.x + across;
      inside[tap] = v >= 0 && v < windows.height && h >= 0 && h < windows.width;
      const int at = 2 * window.y * windows.width + 2 * window.x +
                     (inside[tap] ? down * windows.width + across : 0);
      in[tap] = picture[static_cast<std::int64_t>(at) * tiles.packs];
    }
    float largest[kWidth];  // of x, or of -x
    Places<kWidth> places{};
    for (int i = 0; i < kWidth; ++i) {
      largest[i] = -INFINITY;
      for (int tap = 0; tap < 9; ++tap) {
        const float value = static_cast<float>(in[tap].values[i]);
        const float ranked = affine.scale[i] < 0 ? -value : value;
        const bool larger = inside[tap] && ranked > largest[i];
        largest[i] = larger ? ranked : largest[i];
        places.values[i] = larger ? static_cast<std::uint8_t>(tap) : places.values[i];
      }
    }
    store(row * tiles.packs + pack, affine, largest, places);
  }
  C10_HOST_DEVICE void store(std::int64_t at, const Affine<kWidth>& affine,
                             const float (&largest)[kWidth], Places<kWidth> places) const {
    Pack<T> out, of;
    for (int i = 0; i < kWidth; ++i) {
      const float value = affine.scale[i] < 0 ? -largest[i] : largest[i];
      const float normalised = value * affine.scale[i] + affine.shift[i];
      of.values[i] = static_cast<T>(value);
      out.values[i] = static_cast<T>(normalised < 0 ? 0 : normalised);  // a NaN stays one
      if (!(normalised > 0)) places.values[i] = Places<kWidth>::kCut;
    }
    y[at] = out;
    chosen[at] = of;
    where[at] = places;
  }
};

// InputGradient of what lies in front of the pooling. A thread makes four values side by side,
// those of a window's middle, right of it, below it and right below: of these windows, and of the
// next ones, they can have gradients.
template <typename T>
struct PooledInputGradient {
  static constexpr int kThreads = Tiles::kThreads, kPhases = 1, kWidth = Pack<T>::kWidth;
  static constexpr int kResident = 512;
  struct Shared {};
  Tiles tiles;  // of the output of the pooling
  Channels channels;
  Windows windows;
  const Pack<T>*x = nullptr, *gradient = nullptr;  // of the pooling's output
  const Places<kWidth>* where = nullptr;
  const float* sums = nullptr;
  Pack<T>* out = nullptr;

  template <int kPhase>
  C10_HOST_DEVICE void phase(Place place, Shared&) const {
    const int pack = tiles.pack(place);
    if (pack >= tiles.packs) return;
    const InputSlope<kWidth> slope(channels, sums, tiles.channels, pack * kWidth);
    for (std::int64_t row = tiles.first_row(place); row < tiles.rows; row += tiles.row_step())
      four(row, pack, slope);
  }

 private:
  C10_HOST_DEVICE void four(std::int64_t row, int pack, const InputSlope<kWidth>& slope) const {
    const Window window(windows, row);
    const bool right = window.x + 1 < windows.across, below = window.y + 1 < windows.down;
    Near near;
    // In place of a window that is not there, the first.
    for (int i = 0; i < 4; ++i) {
      near.there[i] = (i % 2 == 0 || right) && (i / 2 == 0 || below);
      const std::int64_t step = near.there[i] ? i / 2 * windows.across + i % 2 : 0;
      near.gradient[i] = gradient[(row + step) * tiles.packs + pack];
      near.places[i] = where[(row + step) * tiles.packs + pack];
    }
    const std::int64_t first =
        (window.picture * windows.height + 2 * window.y) * windows.width + 2 * window.x;
    const bool has_right = 2 * window.x + 1 < windows.width,
               has_below = 2 * window.y + 1 < windows.height;
    one<0, 0>(first, pack, near, slope);
    if (has_right) one<0, 1>(first, pack, near, slope);
    if (has_below) one<1, 0>(first, pack, near, slope);
    if (has_right && has_below) one<1, 1>(first, pack, near, slope);
  }

  // A window, and those right of it, below it, and right below.
  struct Near {
    bool there[4];
    Pack<T> gradient[4];
    Places<kWidth> places[4];
  };
  // The value so far below and right of the first one.
  template <int kDown, int kRight>
  C10_HOST_DEVICE void one(std::int64_t first, int pack, const Near& near,
                           const InputSlope<kWidth>& slope) const {
    const std::int64_t at = (first + kDown * windows.width + kRight) * tiles.packs + pack;
    const Pack<T> in = x[at];
    float g[kWidth] = {};
    add<4 + 3 * kDown + kRight>(near, 0, g);
    if constexpr (kRight == 1) add<4 + 3 * kDown - 1>(near, 1, g);
    if constexpr (kDown == 1) add<4 - 3 + kRight>(near, 2, g);
    if constexpr (kRight == 1 && kDown == 1) add<0>(near, 3, g);
    out[at] = slope.template gradient<T, false>(in, g);
  }
  template <int kPlace>
  C10_HOST_DEVICE static void add(const Near& near, int window, float (&g)[kWidth]) {
    for (int i = 0; i < kWidth; ++i) {
      const bool chosen = near.there[window] && near.places[window].values[i] == kPlace;
      g[i] += chosen ? static_cast<float>(near.gradient[window].values[i]) : 0;
    }
  }
};

}  // namespace feedrate::models::batch_norm
