#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>

#include "base/whole_file.h"
#include "storage/dataset.h"

namespace feedrate::storage {

// A part of a dataset's variant in memory (tmpfs), where no storage is in the way: what a machine
// can read and decode by itself. Removed with the object; what a killed process left, with the next
// one, of whatever process: a copy that is in use is locked. Not thread-safe.
class MemoryCopy {
 public:
  // Copies samples, spread evenly over the variant, up to `most_bytes`, and packs them where the
  // variant is packed. `name` is the variant's, e.g. "jpeg.tar/500x375". Stops early, with what
  // there is, once `stop` is asked for. Errors: feedrate::Error where there is no such memory, and
  // as Storage::read().
  MemoryCopy(const DatasetVariant& variant, const std::string& name, std::uint64_t most_bytes,
             std::stop_token stop);
  ~MemoryCopy();
  MemoryCopy(const MemoryCopy&) = delete;
  MemoryCopy& operator=(const MemoryCopy&) = delete;

  // The folder of a dataset that holds the variant.
  const std::filesystem::path& data() const { return folder_.path; }
  std::size_t samples() const { return samples_; }

 private:
  struct Folder {
    std::filesystem::path path;
    PosixFile lock;
  };
  static Folder new_folder();
  void copy(const DatasetVariant& variant, const std::string& name, std::uint64_t most_bytes,
            const std::stop_token& stop);

  const Folder folder_;
  std::size_t samples_ = 0;
};

}  // namespace feedrate::storage
