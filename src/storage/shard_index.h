#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/dataset.h"
#include "storage/left_out.h"
#include "storage/listing.h"

namespace feedrate::storage {

// A tar file of a folder of shards, as it lay there when it was looked at.
struct ShardFile {
  std::string name;
  std::uint64_t bytes = 0;
  std::int64_t changed_ns = 0;  // since 1970
};

// SampleFile::label of a sample without a label of its own.
inline constexpr std::int32_t kNoLabel = -1;

// Where the user's cache folder keeps the index of a folder's shards for samples with these
// suffixes: $XDG_CACHE_HOME or ~/.cache, feedrate/shards/HASH.tsv. Empty where neither is set.
std::filesystem::path shard_index_path(const std::filesystem::path& folder,
                                       std::span<const std::string_view> suffixes);

// What lies in a folder's shards.
struct ShardMembers {
  std::vector<SampleFile> samples{};  // path, label, bytes, offset, shard
  LeftOutCount left_out{};            // members that somebody may miss among the samples
};

// What a kept index gave.
struct KeptIndex {
  bool holds = false;  // it is of these shards: `members` are theirs
  ShardMembers members{};
  std::string wrong{};  // else, why it cannot be used: "is damaged"; empty where none is kept
};
// `count` is told that it goes on.
KeptIndex read_shard_index(const std::filesystem::path& index, const std::vector<ShardFile>& shards,
                           ListCount& count);

// Replaces it. Where the cache folder cannot be written, none is kept.
void keep_shard_index(const std::filesystem::path& index, const std::vector<ShardFile>& shards,
                      const ShardMembers& members);

}  // namespace feedrate::storage
