#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>

#include "base/whole_file.h"
#include "storage/dataset.h"
#include "storage/outstanding_reads.h"

namespace feedrate::storage {

// A folder in memory (tmpfs) for a part of a dataset, where no storage is in the way: what a
// machine can read and decode by itself. Removed with the object; what a killed process left, with
// the next one, of whatever process: a copy that is in use is locked. Not thread-safe.
class MemoryCopy {
 public:
  // Empty: copy_part() fills it, in this process or in another. Errors: feedrate::Error where there
  // is no such memory.
  MemoryCopy();
  ~MemoryCopy();
  MemoryCopy(const MemoryCopy&) = delete;
  MemoryCopy& operator=(const MemoryCopy&) = delete;

  // The folder of a dataset that holds the variant.
  const std::filesystem::path& data() const { return folder_.path; }
  // How many it holds. Errors: feedrate::Error where nothing was copied.
  std::size_t samples() const;

 private:
  struct Folder {
    std::filesystem::path path;
    PosixFile lock;
  };
  static Folder new_folder();

  const Folder folder_;
};

// Copies samples, spread evenly over the variant, up to `most_bytes`, to `folder`, that of a
// MemoryCopy, and packs them where the variant is packed. `name` is the variant's, e.g.
// "jpeg.tar/500x375". Stops early, with what there is, once `stop` is asked for. Tells `slot`, if
// there is one, what it reads. Errors: as Storage::read(), and those of writing.
void copy_part(const DatasetVariant& variant, const std::string& name, std::uint64_t most_bytes,
               const std::filesystem::path& folder, const std::stop_token& stop,
               OutstandingReads::Slot* slot = nullptr);

}  // namespace feedrate::storage
