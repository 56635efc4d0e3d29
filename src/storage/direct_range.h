#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "storage/buffer.h"
#include "storage/placed_files.h"

namespace feedrate::storage {

// The whole blocks of a file that hold a sample, and a byte more where the sample is a file: its
// absence shows that the file is no longer.
struct DirectRange {
  std::uint64_t offset, length;  // of the blocks, in the file
  std::uint64_t before;          // bytes of them that lie before the sample

  // How many of the `got` bytes that a read of the blocks gave lie at or behind the sample's start.
  std::uint64_t found(std::uint64_t got) const { return got < before ? 0 : got - before; }
};
DirectRange direct_range(const PlacedFiles& files, const SampleFile& sample);
// The most bytes that the range of a sample of up to `largest` bytes has.
constexpr std::uint64_t largest_direct_range(std::uint64_t largest) {
  return aligned_up(largest + 1) + kDirectAlignment;
}

// Reads the range from its open file (O_DIRECT) to `to`, an aligned buffer that is as long. Returns
// DirectRange::found(). Throws an Error naming the sample and the place, which is in the sample.
std::uint64_t read_direct(PlacedFiles& files, const SampleFile& sample, int file, std::byte* to);

}  // namespace feedrate::storage
