#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "storage/dataset.h"
#include "storage/listing.h"

namespace feedrate::storage {

// The container that also reads tar shards of the user's own.
inline constexpr std::string_view kShardsContainer = "webdataset";

// A folder of tar files (shards) that webdataset or tar wrote, as they lie: NAME.tar, in name
// order. Their members whose kind (the name from its first dot on) is one of `suffixes` (".jpg",
// whatever the case) are the samples. A sample's label is the number in KEY.cls, if its shard has
// one for its key; else the index of the member's folder in the order of all folders' names; else
// 0. What is hidden (left_out.h), or lies in a hidden folder, is left out. So is a shard without
// samples, of which `note` is told. DatasetVariant::made counts what is hidden, these shards,
// pictures beside the shards, pictures of other formats and tar files in them, and members that end
// in a suffix behind further dots: the kind of "a.b.jpg" is ".b.jpg". Headers alone are read, by
// `threads`, and only once: where samples lie is kept in the user's cache folder (shard_index.h)
// until a shard changes, of which `note` is told; with `relist` they are read again. As of an image
// folder, names, sizes and times make the manifest, and SampleFile::xxh3 is 0. Errors: as TarWalk,
// and feedrate::Error naming a folder without shards, a compressed one, shards without a sample
// (those that hold tar files are to be unpacked), or a label that is no number.
DatasetVariant list_tar_shards(const std::filesystem::path& folder,
                               std::span<const std::string_view> suffixes, int threads,
                               const ListProgress& progress = {}, const ListNote& note = {},
                               bool relist = false);

// Whether a file of that name is a shard: NAME.tar, and not hidden.
bool has_shard_name(std::string_view name);
// The name of a tar file in `data`. Empty if there is none, or if the folder cannot be read.
std::string find_tar_shard(const std::filesystem::path& data);

}  // namespace feedrate::storage
