#pragma once
#include <cstdint>

#include "models/blocks.h"
#include "models/space_to_depth.h"

// Kernels of models/blocks.h that make normalised values of a picture's bytes by a table:
// [256][3], channels interleaved.
namespace feedrate::train {

template <typename T>
struct NormalisingTable {
  static constexpr int kSize = 3 * 256;
  T values[kSize];

  C10_HOST_DEVICE void load(const T* from, int thread, int threads) {
    for (int i = thread; i < kSize; i += threads) values[i] = from[i];
  }
  C10_HOST_DEVICE T operator()(unsigned byte, int channel) const {
    return values[byte * 3 + static_cast<unsigned>(channel)];
  }
};

// out = table[byte][channel], four bytes a thread at a time.
template <typename T>
struct NormaliseBytes {
  static constexpr int kThreads = 256, kPhases = 2;
  using Shared = NormalisingTable<T>;
  struct alignas(4 * sizeof(T)) Four {
    T values[4];
  };
  const std::uint8_t* in = nullptr;  // on a multiple of 4
  const T* table = nullptr;          // [256][3]
  T* out = nullptr;                  // on a multiple of 4 elements
  std::int64_t count = 0;
  models::Grid grid;

  template <int kPhase>
  C10_HOST_DEVICE void phase(models::Place place, Shared& shared) const {
    if constexpr (kPhase == 0) {
      shared.load(table, place.thread, kThreads);
    } else {
      const std::int64_t first = static_cast<std::int64_t>(place.block_x) * kThreads + place.thread;
      const std::int64_t step = static_cast<std::int64_t>(grid.x) * kThreads;
      for (std::int64_t word = first; word < count / 4; word += step) four(word, shared);
      if (const std::int64_t at = count / 4 * 4 + first; at < count)
        out[at] = shared(in[at], static_cast<int>(at % 3));
    }
  }

 private:
  C10_HOST_DEVICE void four(std::int64_t word, const Shared& shared) const {
    const std::uint32_t bytes = reinterpret_cast<const std::uint32_t*>(in)[word];
    int channel = static_cast<int>(word % 3);  // 4 * word is as far from a multiple of 3 as word is
    Four result;
    for (int i = 0; i < 4; ++i) {
      result.values[i] = shared(bytes >> (8 * i) & 0xff, channel);
      channel = channel == 2 ? 0 : channel + 1;
    }
    reinterpret_cast<Four*>(out)[word] = result;
  }
};

// The same as space_to_depth() lays it out, a pack of a block's channels a thread at a time.
template <typename T>
struct NormaliseSpaceToDepth {
  static constexpr int kThreads = 256, kPhases = 2, kWidth = models::Pack<T>::kWidth;
  static constexpr int kPacks = static_cast<int>(models::kBlockChannels) / kWidth;  // of a block
  using Shared = NormalisingTable<T>;
  const std::uint8_t* in = nullptr;  // (N, height, width, 3)
  const T* table = nullptr;
  models::Pack<T>* out = nullptr;  // (N, down, across, 16)
  int height = 0, width = 0, down = 0, across = 0;
  std::int64_t count = 0;  // of packs
  models::Grid grid;

  template <int kPhase>
  C10_HOST_DEVICE void phase(models::Place place, Shared& shared) const {
    if constexpr (kPhase == 0) return shared.load(table, place.thread, kThreads);
    const std::int64_t first = static_cast<std::int64_t>(place.block_x) * kThreads + place.thread;
    const std::int64_t step = static_cast<std::int64_t>(grid.x) * kThreads;
    for (std::int64_t at = first; at < count; at += step) pack(at, shared);
  }

 private:
  C10_HOST_DEVICE void pack(std::int64_t at, const Shared& shared) const {
    const int first = static_cast<int>(at % kPacks) * kWidth;  // channel of the block
    const std::int64_t block = at / kPacks;
    const int x = static_cast<int>(block % across), y = static_cast<int>(block / across % down);
    const std::uint8_t* const picture =
        in + block / across / down * (static_cast<std::int64_t>(height) * width * 3);
    models::Pack<T> result;
    for (int i = 0; i < kWidth; ++i) {
      const int channel = first + i, column = channel % 6 / 3;
      const int row = 2 * y + channel / 6 - kMargin, pixel = 2 * x + column - kMargin;
      const bool inside = channel < 12 && row >= 0 && row < height && pixel >= 0 && pixel < width;
      result.values[i] = inside
                             ? shared(picture[(row * width + pixel) * 3 + channel % 3], channel % 3)
                             : static_cast<T>(0.0f);
    }
    out[at] = result;
  }
  static constexpr int kMargin = static_cast<int>(models::kBlockMargin);
};

}  // namespace feedrate::train
