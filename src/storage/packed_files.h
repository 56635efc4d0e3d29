#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/container.h"

namespace feedrate::storage {

// What containers share whose samples lie one after the other in files without a library of their
// own: tar, webdataset and packed.

// Says where samples lie, one after the other, as a layout has it.
class Placing {
 public:
  explicit Placing(const PackedLayout& layout) : layout_(layout) {}

  struct Place {
    std::uint32_t shard = 0;
    std::uint64_t offset = 0;
  };
  // Of the next sample, which has so many bytes.
  Place next(std::uint64_t bytes);
  // How long the files are that the samples so far need: one at least.
  std::vector<std::uint64_t> lengths() const;

 private:
  std::uint64_t end_of(std::uint64_t begin, std::uint64_t bytes) const;

  const PackedLayout layout_;
  std::vector<std::uint64_t> ends_{0};  // of the samples in each file
};

// The names of a container's first `count` packed files.
std::vector<std::string> packed_names(const Container& container, std::size_t count);

// For Container::open(): by io.engine. Throws an Error naming the file that cannot be opened or has
// another length than `variant` says. `remedy` is for that and for samples that are not there.
std::unique_ptr<Storage> open_packed(const DatasetVariant& variant, const Io& io,
                                     std::string_view remedy);
// For files that `gen` packed. The remedy is the command that packs them again.
std::unique_ptr<Storage> open_packed(const DatasetVariant& variant, const Io& io);

// Fills in what stands before a sample: PackedLayout::header bytes, which come as zeros. Throws an
// Error naming a sample that the container cannot hold.
using WriteHeader = void (*)(const SampleFile& sample, std::span<std::byte> header);
// For Container::pack().
bool pack_samples(const Container& container, WriteHeader write_header, const DatasetVariant& from,
                  const std::filesystem::path& folder, const PackProgress& progress);

}  // namespace feedrate::storage
