#pragma once
#include <cstddef>
#include <span>

#include "storage/dataset.h"

namespace feedrate::storage {

// What stands before a sample in a shard of the container "webdataset": see WriteHeader in
// packed_files.h.
inline constexpr std::size_t kShardHeaderBytes = 3 * 512;
void write_shard_header(const SampleFile& sample, std::span<std::byte> header);

}  // namespace feedrate::storage
