#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "storage/dataset.h"
#include "storage/io_engine.h"
#include "storage/storage.h"

namespace feedrate::storage {

// Told the number of samples packed so far; false ends the packing.
using PackProgress = std::function<bool(std::size_t)>;

// How packed files are laid out: samples one after the other in the manifest's order, each behind
// `header` bytes and filled up to whole blocks; `end` bytes close a file. A file takes no further
// sample that would carry it beyond `most` bytes; 0: one file takes all.
struct PackedLayout {
  std::uint64_t header = 0, block = 1, end = 0, most = 0;
};

// How the samples of a variant lie in storage: a file that defines one, and a line in
// container.cpp. The variant "jpeg/500x375" in a container is "jpeg.NAME/500x375", with the same
// manifest.
struct Container {
  std::string_view name;      // as typed after --container
  std::string_view help;      // one line, for `feedrate list`
  std::string_view packed{};  // the file in the variant's folder that holds all samples, or the
                              // first of several: the zeros in its name count them. Empty: each
                              // sample is a file
  PackedLayout layout{};      // of these files' bytes as their library counts them
  bool locks =
      false;  // its library lets one thread in at a time: the waiting is a stage of its own
  bool takes_engines = true;  // else its library reads: Io::engine is the first one
  // One per worker; `variant` outlives it. Throws an Error naming the file if it does not hold the
  // samples of the manifest.
  std::unique_ptr<Storage> (*open)(const DatasetVariant& variant, const Io& io) = nullptr;
  // Writes the samples of `from`, a variant of files, to the packed files in `folder`, durably. It
  // replaces what is there only when it is done. False: `progress` ended it. Throws an Error naming
  // the sample that is not as its manifest says, or what cannot be written. Null where `packed` is
  // empty.
  bool (*pack)(const DatasetVariant& from, const std::filesystem::path& folder,
               const PackProgress& progress) = nullptr;
};

// All containers, plain files first. Thread-safe, immutable.
std::span<const Container> containers();
// The container of that name, or nullptr.
const Container* find_container(std::string_view name);
// The container in a variant's name; a name without one means files. Errors: feedrate::Error for
// one that is not known.
const Container& container_of(std::string_view variant);
// "jpeg/500x375" in a container: "jpeg.hdf5/500x375".
std::string in_container(std::string_view variant, std::string_view container);

// What reads a variant's samples. Not thread-safe, one per worker.
inline std::unique_ptr<Storage> make_storage(const DatasetVariant& variant, const Io& io = {}) {
  return variant.container->open(variant, io);
}

// Fills in `packed`, `packed_bytes` and each sample's shard and offset as the container lays them
// out; nothing for plain files.
void place_samples(DatasetVariant& variant);

// Each in the file of its name; container.cpp lists them.
Container files_container();
// Files in a folder of the user's own. `feedrate gen` did not make it, so no error advises that.
const Container& own_files();
Container tar_container();
Container webdataset_container();
Container packed_container();
Container hdf5_container();

}  // namespace feedrate::storage
