#pragma once
#include <cstddef>
#include <cstdint>

namespace feedrate {

// Undoes the filters of PNG (third edition, clause 9) in place. A row is a filter byte and its pixels of
// `channels` bytes (1 to 4); rows lie `stride` bytes apart. Only the first `width` pixels of each row are
// made. False if a filter byte is none. 4 bytes behind the last row must be readable.
bool unfilter_png(std::uint8_t* rows, int count, std::ptrdiff_t stride, int width, int channels);

}  // namespace feedrate
