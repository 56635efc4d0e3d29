#pragma once
#include <cstddef>
#include <cstdint>

namespace feedrate::codec {

inline constexpr int kUnfilterRows = 8;

// Undoes the filters of PNG (third edition, clause 9) in place. A row is a filter byte and its
// pixels of `channels` bytes (1 to 4); rows lie `stride` bytes apart. Only the first `width` pixels
// of each row are made. False if a filter byte is invalid. Behind the last row there must be memory
// for kUnfilterRows - 1 more rows and 4 bytes: their contents are lost.
bool unfilter_png(std::uint8_t* rows, int count, std::ptrdiff_t stride, int width, int channels);

}  // namespace feedrate::codec
