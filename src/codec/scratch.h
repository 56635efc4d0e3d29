#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace feedrate::codec {

// Memory that a decoder reuses for every picture: it only ever grows, so that in the steady state
// nothing is allocated.
using Scratch = std::vector<std::uint8_t>;

// At least `bytes` of it; the contents mean nothing.
inline std::uint8_t* grow(Scratch& scratch, std::size_t bytes) {
  if (scratch.size() < bytes) scratch.resize(bytes);
  return scratch.data();
}

}  // namespace feedrate::codec
