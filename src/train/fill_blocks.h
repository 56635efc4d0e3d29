#pragma once
#include <cstddef>
#include <cstdint>

#include "device/graph_memsets.h"
#include "models/blocks.h"

namespace feedrate::train {

// Fills rows of memory, 16 bytes of it at a time: what a memset node does, as a kernel of blocks.h.
struct FillRows {
  static constexpr int kThreads = 256, kPhases = 1, kResident = 1024;
  struct Shared {};
  static constexpr std::size_t kPack = 16;

  explicit FillRows(const device::GraphMemset& memset)
      : to(reinterpret_cast<unsigned char*>(memset.to)),
        pitch(memset.pitch),
        row_bytes(memset.row_bytes),
        rows(memset.rows),
        pattern(memset.pattern()) {
    if (rows > 1 && pitch == row_bytes) row_bytes *= rows, rows = 1;  // no gaps
    packs_of_row = row_bytes / kPack + 2;  // a row may begin and end within one
  }

  C10_HOST_DEVICE std::size_t packs() const { return rows * packs_of_row; }

  template <int kPhase>
  C10_HOST_DEVICE void phase(models::Place place, Shared&) const {
    const std::size_t all = static_cast<std::size_t>(grid.x) * kThreads;
    for (std::size_t i = static_cast<std::size_t>(place.block_x) * kThreads +
                         static_cast<std::size_t>(place.thread);
         i < packs(); i += all)
      fill(rows == 1 ? 0 : i / packs_of_row, rows == 1 ? i : i % packs_of_row);
  }

  unsigned char* to;
  std::size_t pitch, row_bytes, rows, packs_of_row = 0;
  std::uint32_t pattern;
  models::Grid grid;

 private:
  // What a row has of one of its packs of aligned bytes.
  C10_HOST_DEVICE void fill(std::size_t row, std::size_t pack) const {
    unsigned char* const first = to + row * pitch;
    unsigned char* const last = first + row_bytes;
    unsigned char* at = first - reinterpret_cast<std::uintptr_t>(first) % kPack + pack * kPack;
    if (at >= first && at + kPack <= last) {
      *reinterpret_cast<models::Pack<std::uint32_t>*>(at) = {{pattern, pattern, pattern, pattern}};
      return;
    }
    unsigned char* const end = at + kPack < last ? at + kPack : last;
    for (at = at < first ? first : at; at < end; ++at)
      *at = static_cast<unsigned char>(pattern >> 8 * (reinterpret_cast<std::uintptr_t>(at) % 4));
  }
};

}  // namespace feedrate::train
