#pragma once
#include <cstdint>

#include "models/blocks.h"

namespace feedrate::train {

// out = table[byte][channel], four bytes a thread at a time; channels are interleaved. See
// models/blocks.h.
template <typename T>
struct NormaliseBytes {
  static constexpr int kThreads = 256, kPhases = 2, kTable = 3 * 256;
  struct Shared {
    T table[kTable];
  };
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
      for (int i = place.thread; i < kTable; i += kThreads) shared.table[i] = table[i];
    } else {
      const std::int64_t first = static_cast<std::int64_t>(place.block_x) * kThreads + place.thread;
      const std::int64_t step = static_cast<std::int64_t>(grid.x) * kThreads;
      for (std::int64_t word = first; word < count / 4; word += step) four(word, shared);
      if (const std::int64_t at = count / 4 * 4 + first; at < count)
        out[at] = shared.table[in[at] * 3 + at % 3];
    }
  }

 private:
  C10_HOST_DEVICE void four(std::int64_t word, const Shared& shared) const {
    const std::uint32_t bytes = reinterpret_cast<const std::uint32_t*>(in)[word];
    int channel = static_cast<int>(word % 3);  // 4 * word is as far from a multiple of 3 as word is
    Four result;
    for (int i = 0; i < 4; ++i) {
      result.values[i] =
          shared.table[(bytes >> (8 * i) & 0xff) * 3 + static_cast<unsigned>(channel)];
      channel = channel == 2 ? 0 : channel + 1;
    }
    reinterpret_cast<Four*>(out)[word] = result;
  }
};

}  // namespace feedrate::train
