#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "storage/placed_files.h"
#include "storage/storage.h"

namespace feedrate::storage {

// Whether `found` bytes from a sample's beginning on are what the manifest says. A packed file goes
// on behind a sample.
inline bool is_whole(const PlacedFiles& files, const SampleFile& sample, std::uint64_t found) {
  return found == sample.bytes || (!files.apart() && found > sample.bytes);
}

// Copies the last bytes of a sample that lies in memory to the request's tail; returns the others.
inline std::span<const std::byte> without_tail(const ReadRequest& request,
                                               std::span<const std::byte> sample) {
  const auto head = sample.first(sample.size() - request.tail.size());
  if (!request.tail.empty())
    std::memcpy(request.tail.data(), sample.data() + head.size(), request.tail.size());
  return head;
}

}  // namespace feedrate::storage
