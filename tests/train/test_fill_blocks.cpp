#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "train/fill_blocks.h"

namespace feedrate::tests {
namespace {

using device::GraphMemset;

// What the memset writes, element by element.
std::vector<unsigned char> filled(std::vector<unsigned char> bytes, const GraphMemset& memset,
                                  std::size_t from) {
  for (std::size_t row = 0; row < memset.rows; ++row)
    for (std::size_t i = 0; i < memset.row_bytes; i += memset.element_bytes)
      std::memcpy(&bytes[from + row * memset.pitch + i], &memset.value, memset.element_bytes);
  return bytes;
}

// Rows that begin and end anywhere in a pack, are shorter than one, and lie apart or side by side;
// not a byte beside them changes.
TEST(FillRows, FillsWhatAMemsetNodeDoes) {
  struct Rows {
    std::size_t rows, row_bytes, pitch;
  };
  constexpr std::array kRows = {Rows{1, 4096, 0}, Rows{1, 4, 0},      Rows{1, 20, 4},
                                Rows{3, 44, 44},  Rows{5, 100, 124},  Rows{40, 4, 8},
                                Rows{7, 64, 64},  Rows{2, 1000, 1016}};
  alignas(16) static std::array<unsigned char, 8192> memory;
  for (const Rows& rows : kRows) {
    for (const unsigned element : {1u, 2u, 4u}) {
      for (std::size_t from = 0; from < 20; from += element) {
        memory.fill(0x55);
        const std::vector<unsigned char> before(memory.begin(), memory.end());
        const GraphMemset memset{.to = reinterpret_cast<std::uintptr_t>(&memory[from]),
                                 .pitch = rows.pitch,
                                 .row_bytes = rows.row_bytes,
                                 .rows = rows.rows,
                                 .value = 0x81c2e3f4,
                                 .element_bytes = element};
        train::FillRows kernel(memset);
        kernel.grid = {2, 1};
        models::OnHost::launch(kernel.grid, kernel);
        EXPECT_TRUE(std::ranges::equal(memory, filled(before, memset, from)))
            << rows.rows << " rows of " << rows.row_bytes << " bytes, " << rows.pitch
            << " apart, elements of " << element << ", from " << from;
      }
    }
  }
}

}  // namespace
}  // namespace feedrate::tests
