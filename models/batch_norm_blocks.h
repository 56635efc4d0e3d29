#pragma once
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <cstdint>

#include "models/batch_norm_tiles.h"

// The GPU's batch normalisation, as kernels of blocks.h over rows x channels. Sums are of floats in
// a thread and in a block, of doubles over blocks, always in the same order: equal inputs give
// equal bits.
namespace feedrate::models::batch_norm {

// What follows the normalisation: join_relu adds a shortcut that is normalised, too.
enum class Then { nothing, relu, add_relu, join_relu };
constexpr bool adds(Then then) { return then == Then::add_relu || then == Then::join_relu; }

// What is known of each channel: (C) each, fp32, on 16 bytes.
struct Channels {
  const float *mean = nullptr, *scale = nullptr, *shift = nullptr;
};

// Those of a pack of channels, 16 bytes at once.
template <int kWidth>
C10_HOST_DEVICE void load_floats(float (&to)[kWidth], const float* from) {
  static_assert(kWidth % Pack<float>::kWidth == 0);
  for (int first = 0; first < kWidth; first += Pack<float>::kWidth) {
    const Pack<float> some = *reinterpret_cast<const Pack<float>*>(from + first);
    for (int i = 0; i < Pack<float>::kWidth; ++i) to[first + i] = some.values[i];
  }
}

// y = x * scale + shift, for a pack of channels.
template <int kWidth>
struct Affine {
  float scale[kWidth], shift[kWidth];
  C10_HOST_DEVICE Affine(const Channels& of, int first) {
    load_floats(scale, of.scale + first);
    load_floats(shift, of.shift + first);
  }
};

// Two sums per channel by every thread, then by the block: partial[block_y][2][channels]. A warp
// that puts has 32 threads in one column, one that folds has the columns of 32 / kColumns packs
// side by side: by the row's length, either asks each of the 32 banks once.
template <int kWidth>
struct TwoSums {
  static constexpr int kColumns = 2 * kWidth, kBanks = 32;
  static constexpr int kRow = Tiles::kThreads + kBanks / kColumns;
  static_assert(Tiles::kThreads % kBanks == 0 && kBanks % kColumns == 0);
  float of_thread[kColumns * kRow];

  C10_HOST_DEVICE static constexpr int place_of(int column, int thread) {
    return column * kRow + thread;
  }
  C10_HOST_DEVICE void put(int thread, const float (&first)[kWidth],
                           const float (&second)[kWidth]) {
    for (int i = 0; i < kWidth; ++i) {
      of_thread[place_of(i, thread)] = first[i];
      of_thread[place_of(kWidth + i, thread)] = second[i];
    }
  }
  // Each thread adds up some columns of the block.
  C10_HOST_DEVICE void fold(const Tiles& tiles, Place place, float* partial) const {
    for (int at = place.thread; at < tiles.across * kColumns; at += Tiles::kThreads) {
      const int x = at / kColumns, column = at % kColumns;
      const int which = column / kWidth, i = column % kWidth;
      const int pack = place.block_x * tiles.across + x;
      if (pack >= tiles.packs) continue;
      float sum = 0;
      for (int y = 0; y < tiles.down; ++y) sum += of_thread[place_of(column, y * tiles.across + x)];
      partial[(static_cast<std::int64_t>(place.block_y) * 2 + which) * tiles.channels +
              pack * kWidth + i] = sum;
    }
  }
};

// Sums of x - first row, and of its square.
template <typename T>
struct SumDeviations {
  static constexpr int kThreads = Tiles::kThreads, kPhases = 2, kWidth = Pack<T>::kWidth;
  static constexpr int kResident = 1024;
  using Shared = TwoSums<kWidth>;
  Tiles tiles;
  const Pack<T>* x = nullptr;
  float* partial = nullptr;

  template <int kPhase>
  C10_HOST_DEVICE void phase(Place place, Shared& shared) const {
    if constexpr (kPhase == 1) return shared.fold(tiles, place, partial);
    float sum[kWidth] = {}, square[kWidth] = {};
    const int pack = tiles.pack(place);
    if (pack < tiles.packs) {
      const Pack<T> from = x[pack];
      tiles.template each_row<4>(
          place, [&](std::int64_t row) { return x[row * tiles.packs + pack]; },
          [&](std::int64_t, const Pack<T>& in) {
            for (int i = 0; i < kWidth; ++i) {
              const float d = static_cast<float>(in.values[i]) - static_cast<float>(from.values[i]);
              sum[i] += d;
              square[i] += d * d;
            }
          });
    }
    shared.put(place.thread, sum, square);
  }
};

// y = x * scale + shift (+ shortcut, normalised or not) (cut at zero); with a shortcut one bit for
// each value: whether it passed.
template <typename T, Then kThen>
struct Normalise {
  static constexpr int kThreads = Tiles::kThreads, kPhases = 1, kWidth = Pack<T>::kWidth;
  static constexpr bool kAdd = adds(kThen), kJoin = kThen == Then::join_relu,
                        kRelu = kThen != Then::nothing;
  static constexpr int kResident = kJoin ? 512 : 1024;
  struct Shared {};
  Tiles tiles;
  Channels channels, of_shortcut;
  const Pack<T>*x = nullptr, *shortcut = nullptr;
  Pack<T>* y = nullptr;
  std::uint8_t* passed = nullptr;

  template <int kPhase>
  C10_HOST_DEVICE void phase(Place place, Shared&) const {
    const int pack = tiles.pack(place);
    if (pack >= tiles.packs) return;
    const Affine<kWidth> affine(channels, pack * kWidth);
    const Affine<kWidth> second(kJoin ? of_shortcut : channels, pack * kWidth);
    tiles.template each_row<kAdd ? 2 : 4>(
        place, [&](std::int64_t row) { return load(row * tiles.packs + pack); },
        [&](std::int64_t row, const Loaded& in) {
          store(row * tiles.packs + pack, in, affine, second);
        });
  }

 private:
  struct Loaded {
    Pack<T> x, shortcut;
  };
  C10_HOST_DEVICE Loaded load(std::int64_t at) const {
    Loaded in;
    in.x = x[at];
    if constexpr (kAdd) in.shortcut = shortcut[at];
    return in;
  }
  C10_HOST_DEVICE void store(std::int64_t at, const Loaded& in, const Affine<kWidth>& affine,
                             const Affine<kWidth>& second) const {
    Pack<T> out;
    unsigned bits = 0;
    for (int i = 0; i < kWidth; ++i) {
      float value = static_cast<float>(in.x.values[i]) * affine.scale[i] + affine.shift[i];
      if constexpr (kAdd) {
        const float added = static_cast<float>(in.shortcut.values[i]);
        value += kJoin ? added * second.scale[i] + second.shift[i] : added;
      }
      bits |= static_cast<unsigned>(value > 0) << i;
      if constexpr (kRelu) value = value < 0 ? 0 : value;  // a NaN stays one
      out.values[i] = static_cast<T>(value);
    }
    y[at] = out;
    if constexpr (kAdd) passed[at] = static_cast<std::uint8_t>(bits);
  }
};

// g: the gradient (+ other) in front of the ReLU. Sums of g and of g * (x - mean), also for a
// shortcut that was normalised; with a shortcut, g itself to `through`.
template <typename T, Then kThen, bool kOther>
struct SumGradients {
  static constexpr int kThreads = Tiles::kThreads, kPhases = 2, kWidth = Pack<T>::kWidth;
  static constexpr bool kAdd = adds(kThen), kJoin = kThen == Then::join_relu,
                        kRelu = kThen != Then::nothing;
  // With an addition, one row at a time is enough on its way.
  static constexpr int kAhead = kAdd ? 1 : 4, kResident = kThen == Then::add_relu ? 1024 : 512;
  static constexpr int kInputs = kJoin ? 2 : 1;
  struct Shared {
    TwoSums<kWidth> of[kInputs];  // each with the sum of g, so that both are finished alike
  };
  Tiles tiles;
  Channels channels, of_shortcut;
  const Pack<T>*x = nullptr, *shortcut = nullptr, *gradient = nullptr, *other = nullptr;
  const std::uint8_t* passed = nullptr;
  Pack<T>* through = nullptr;
  float* partial = nullptr;  // [kInputs][blocks][2][channels]

  template <int kPhase>
  C10_HOST_DEVICE void phase(Place place, Shared& shared) const {
    if constexpr (kPhase == 1) {
      for (int input = 0; input < kInputs; ++input)
        shared.of[input].fold(tiles, place, partial + input * sums_of_blocks());
      return;
    }
    Sums sums;
    if (const int pack = tiles.pack(place); pack < tiles.packs) {
      const Affine<kWidth> affine(channels, pack * kWidth);
      float mean[kInputs][kWidth];
      load_floats(mean[0], channels.mean + pack * kWidth);
      if constexpr (kJoin) load_floats(mean[1], of_shortcut.mean + pack * kWidth);
      tiles.template each_row<kAhead>(
          place, [&](std::int64_t row) { return load(row * tiles.packs + pack); },
          [&](std::int64_t row, const Loaded& in) {
            add(row * tiles.packs + pack, in, mean, affine, sums);
          });
    }
    for (int input = 0; input < kInputs; ++input)
      shared.of[input].put(place.thread, sums.gradient, sums.product[input]);
  }
  C10_HOST_DEVICE std::int64_t sums_of_blocks() const {
    return static_cast<std::int64_t>(tiles.grid.y) * 2 * tiles.channels;
  }

 private:
  struct Loaded {
    Pack<T> x, shortcut, gradient, other;
    unsigned passed;
  };
  struct Sums {
    float gradient[kWidth] = {}, product[kInputs][kWidth] = {};
  };
  C10_HOST_DEVICE Loaded load(std::int64_t at) const {
    Loaded in;
    in.x = x[at], in.gradient = gradient[at];
    if constexpr (kJoin) in.shortcut = shortcut[at];
    if constexpr (kOther) in.other = other[at];
    if constexpr (kAdd) in.passed = passed[at];
    return in;
  }
  C10_HOST_DEVICE void add(std::int64_t at, const Loaded& in, const float (&mean)[kInputs][kWidth],
                           const Affine<kWidth>& affine, Sums& sums) const {
    Pack<T> out;
    for (int i = 0; i < kWidth; ++i) {
      const float value = static_cast<float>(in.x.values[i]);
      float g = static_cast<float>(in.gradient.values[i]);
      if constexpr (kOther) g += static_cast<float>(in.other.values[i]);
      bool open = true;
      if constexpr (kAdd) {
        open = (in.passed >> i & 1) != 0;
      } else if constexpr (kRelu) {
        open = value * affine.scale[i] + affine.shift[i] > 0;
      }
      g = open ? g : 0;
      out.values[i] = static_cast<T>(g);
      sums.gradient[i] += g;
      sums.product[0][i] += g * (value - mean[0][i]);
      if constexpr (kJoin)
        sums.product[1][i] += g * (static_cast<float>(in.shortcut.values[i]) - mean[1][i]);
    }
    if constexpr (kAdd) through[at] = out;
  }
};

// The gradient of x, for a pack of channels: scale * (g - (sums of g + x-hat * sums of g * x-hat) /
// rows). sums: (4, C), see BatchNormKernels::reduce.
template <int kWidth>
struct InputSlope {
  Affine<kWidth> affine;
  float slope[kWidth], constant[kWidth], mean[kWidth];

  C10_HOST_DEVICE InputSlope(const Channels& of, const float* sums, int channels, int first)
      : affine(of, first) {
    load_floats(constant, sums + 2 * channels + first);
    load_floats(slope, sums + 3 * channels + first);
    load_floats(mean, of.mean + first);
  }

  // kCut: `given` is still that behind a ReLU.
  template <typename T, bool kCut>
  C10_HOST_DEVICE Pack<T> gradient(const Pack<T>& x, const float (&given)[kWidth]) const {
    Pack<T> result;
    for (int i = 0; i < kWidth; ++i) {
      const float value = static_cast<float>(x.values[i]);
      const bool open = !kCut || value * affine.scale[i] + affine.shift[i] > 0;
      const float g = open ? given[i] : 0;
      result.values[i] =
          static_cast<T>(g * affine.scale[i] + (value - mean[i]) * slope[i] + constant[i]);
    }
    return result;
  }
};

template <typename T, Then kThen>
struct InputGradient {
  static constexpr int kThreads = Tiles::kThreads, kPhases = 1, kWidth = Pack<T>::kWidth;
  static constexpr bool kJoin = kThen == Then::join_relu, kCut = kThen == Then::relu;
  static constexpr int kResident = kJoin ? 512 : 1024;
  struct Shared {};
  Tiles tiles;
  Channels channels, of_shortcut;
  const Pack<T>*x = nullptr, *shortcut = nullptr, *gradient = nullptr;
  const float* sums = nullptr;  // (1 or 2, 4, C)
  Pack<T>*out = nullptr, *out_of_shortcut = nullptr;

  template <int kPhase>
  C10_HOST_DEVICE void phase(Place place, Shared&) const {
    const int pack = tiles.pack(place);
    if (pack >= tiles.packs) return;
    const auto slope_of = [&](const Channels& of, const float* its_sums) {
      return InputSlope<kWidth>(of, its_sums, tiles.channels, pack * kWidth);
    };
    const InputSlope<kWidth> slope = slope_of(channels, sums);
    const InputSlope<kWidth> second =
        kJoin ? slope_of(of_shortcut, sums + 4 * tiles.channels) : slope;
    for (std::int64_t row = tiles.first_row(place); row < tiles.rows; row += tiles.row_step()) {
      const std::int64_t at = row * tiles.packs + pack;
      const Pack<T> in = x[at], given = gradient[at], added = kJoin ? shortcut[at] : in;
      float g[kWidth];
      for (int i = 0; i < kWidth; ++i) g[i] = static_cast<float>(given.values[i]);
      out[at] = slope.template gradient<T, kCut>(in, g);
      if constexpr (kJoin) out_of_shortcut[at] = second.template gradient<T, false>(added, g);
    }
  }
};

}  // namespace feedrate::models::batch_norm
