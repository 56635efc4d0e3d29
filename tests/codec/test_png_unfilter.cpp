#include "codec/png/unfilter.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <vector>

namespace feedrate::tests {
namespace {

using Rows = std::vector<std::uint8_t>;

// PNG's five filters, forwards, as the standard words them (clause 9).
Rows filtered(const Rows& pixels, const std::vector<std::uint8_t>& filters, int row_bytes,
              int channels) {
  Rows rows;
  for (std::size_t y = 0; y < filters.size(); ++y) {
    rows.push_back(filters[y]);
    for (int i = 0; i < row_bytes; ++i) {
      const auto at = [&](int up, int left) {
        const bool outside = (up > 0 && y == 0) || i - left < 0;
        return outside ? 0
                       : static_cast<int>(
                             pixels[(y - static_cast<std::size_t>(up)) * row_bytes + i - left]);
      };
      const int a = at(0, channels), b = at(1, 0), c = at(1, channels), p = a + b - c;
      const int pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
      const int guess[] = {0, a, b, (a + b) / 2, pa <= pb && pa <= pc ? a : pb <= pc ? b : c};
      rows.push_back(static_cast<std::uint8_t>(at(0, 0) - guess[filters[y]]));
    }
  }
  return rows;
}

TEST(PngUnfilter, GivesBackWhatWasFiltered) {
  std::mt19937 random(5);
  for (int round = 0; round < 400; ++round) {
    const int channels = 1 + static_cast<int>(random() % 4),
              width = 1 + static_cast<int>(random() % 40);
    const int height = 1 + static_cast<int>(random() % 23), row_bytes = width * channels;
    Rows pixels(static_cast<std::size_t>(row_bytes * height));
    // Few values make ties between the predictor's candidates, all values make overflows.
    for (auto& p : pixels)
      p = static_cast<std::uint8_t>(round % 2 == 0 ? random() : 100 + random() % 3);
    std::vector<std::uint8_t> filters(static_cast<std::size_t>(height));
    for (auto& f : filters) f = static_cast<std::uint8_t>(round % 3 == 0 ? 4 : random() % 5);
    Rows rows = filtered(pixels, filters, row_bytes, channels);
    rows.resize(rows.size() +
                static_cast<std::size_t>((codec::kUnfilterRows - 1) * (row_bytes + 1) + 4));
    const int wanted = 1 + static_cast<int>(random() % static_cast<unsigned>(width));
    ASSERT_TRUE(codec::unfilter_png(rows.data(), height, row_bytes + 1, wanted, channels));
    for (int y = 0; y < height; ++y) {
      for (int i = 0; i < wanted * channels; ++i) {
        ASSERT_EQ(rows[static_cast<std::size_t>(y * (row_bytes + 1) + 1 + i)],
                  pixels[static_cast<std::size_t>(y * row_bytes + i)])
            << round << ": " << width << "x" << height << "x" << channels << " at " << y
            << ", byte " << i;
      }
    }
  }
}

TEST(PngUnfilter, RefusesAnUnknownFilter) {
  Rows rows((2 + codec::kUnfilterRows - 1) * 31 + 4);
  rows[31] = 5;
  EXPECT_FALSE(codec::unfilter_png(rows.data(), 2, 31, 10, 3));
}

}  // namespace
}  // namespace feedrate::tests
