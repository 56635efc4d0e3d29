// The container "webdataset": tar files of a bounded size (shards), as the Python package
// webdataset and `tar -xf` read them. A sample is two members of one key: KEY.cls, the label in
// digits, and KEY.EXT, its file. Nothing of them is parsed while they are read: where a sample lies
// follows from the manifest.
#include "storage/webdataset_container.h"

#include <cstring>
#include <string>

#include "base/error.h"
#include "storage/container.h"
#include "storage/packed_files.h"
#include "storage/tar_header.h"
#include "storage/tar_shards.h"

namespace feedrate::storage {
namespace {

// webdataset's ShardWriter ends a shard at 3 GB unless it is told otherwise, and the data sets of
// its documentation have shards of about 1 GB. Smaller ones give a dataset of some thousand
// pictures several shards, too, and still make the opening of one rare.
constexpr std::uint64_t kShardBytes = std::uint64_t{256} << 20;
// The header of KEY.cls, its label, and the header of KEY.EXT.
static_assert(kShardHeaderBytes == 3 * kTarBlock);

// The sample's path without its extension. webdataset takes the extension from the first dot of the
// name on: it would see another key than the one that is meant.
std::string_view key_of(const SampleFile& sample) {
  const std::string_view path = sample.path;
  const std::size_t name = path.rfind('/') + 1;  // 0 where there is no folder
  const std::size_t dot = path.find('.', name);
  if (dot == name || dot == std::string_view::npos || dot != path.rfind('.')) {
    throw Error(path,
                "needs one dot in its name: webdataset takes what follows the first as the kind",
                "rename it, or use --container tar");
  }
  return path.substr(0, dot);
}

std::unique_ptr<Storage> webdataset_storage(const DatasetVariant& variant, const Io& io) {
  return open_packed(variant, io);
}

bool write_webdataset(const DatasetVariant& from, const std::filesystem::path& folder,
                      const PackProgress& progress) {
  return pack_samples(webdataset_container(), write_shard_header, from, folder, progress);
}

}  // namespace

void write_shard_header(const SampleFile& sample, std::span<std::byte> header) {
  const std::string label = std::to_string(sample.label);
  write_tar_header(std::string(key_of(sample)) + ".cls", label.size(), header.first(kTarBlock));
  std::memcpy(&header[kTarBlock], label.data(), label.size());
  write_tar_header(sample.path, sample.bytes, header.last(kTarBlock));
}

Container webdataset_container() {
  return {.name = kShardsContainer,
          .help =
              "tar shards of at most 256 MiB, each sample beside its label; or shards of your "
              "own, with image-size mixed",
          .packed = "shard-000000.tar",
          .layout = {.header = kShardHeaderBytes,
                     .block = kTarBlock,
                     .end = 2 * kTarBlock,
                     .most = kShardBytes},
          .open = webdataset_storage,
          .pack = write_webdataset};
}

}  // namespace feedrate::storage
