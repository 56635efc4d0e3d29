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
  static constexpr int kThreads = 256, kPhases = 2, kResident = 1024;
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

// The same as space_to_depth() lays it out, 16 bytes of a block of 2x2 pixels a thread at a time,
// so that a warp writes side by side.
template <typename T>
struct NormaliseSpaceToDepth {
  static constexpr int kThreads = 256, kPhases = 2, kResident = 1024;
  static constexpr int kChannels = static_cast<int>(models::kBlockChannels);
  using Pack = models::Pack<T>;
  static constexpr int kPacks = kChannels / Pack::kWidth;  // of a block
  using Shared = NormalisingTable<T>;
  const std::uint8_t* in = nullptr;  // (N, height, width, 3)
  const T* table = nullptr;
  Pack* out = nullptr;                                              // (N, down, across, 16)
  unsigned height = 0, width = 0, down = 0, across = 0, count = 0;  // count: of packs
  models::Grid grid;

  template <int kPhase>
  C10_HOST_DEVICE void phase(models::Place place, Shared& shared) const {
    if constexpr (kPhase == 0) return shared.load(table, place.thread, kThreads);
    const unsigned first = static_cast<unsigned>(place.block_x * kThreads + place.thread),
                   step = static_cast<unsigned>(grid.x * kThreads);
    for (unsigned at = first; at < count; at += step) out[at] = pack_of(at, shared);
  }

 private:
  C10_HOST_DEVICE Pack pack_of(unsigned at, const Shared& shared) const {
    const unsigned block = at / kPacks;
    const int left = pixel_of(block % across), top = pixel_of(block / across % down);
    const std::uint8_t* const picture =
        in + static_cast<std::int64_t>(block / across / down) * height * width * 3;
    Pack pack;
    for (int i = 0; i < Pack::kWidth; ++i) {
      // Six values of either row, and none.
      const int channel = static_cast<int>(at % kPacks) * Pack::kWidth + i;
      const int row = channel >= 6 ? 1 : 0, column = channel - 6 * row;
      const bool is_pixel =
          column < 6 && is_inside(top + row, height) && is_inside(left + column / 3, width);
      const std::int64_t first = ((top + row) * static_cast<std::int64_t>(width) + left) * 3;
      pack.values[i] =
          is_pixel ? shared(picture[first + column], column % 3) : static_cast<T>(0.0f);
    }
    return pack;
  }
  C10_HOST_DEVICE static int pixel_of(unsigned block) {
    return 2 * static_cast<int>(block) - static_cast<int>(models::kBlockMargin);
  }
  C10_HOST_DEVICE static bool is_inside(int place, unsigned side) {
    return place >= 0 && place < static_cast<int>(side);
  }
};

}  // namespace feedrate::train
