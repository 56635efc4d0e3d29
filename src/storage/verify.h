#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "storage/dataset.h"

namespace feedrate::storage {

struct VerifyResult {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  // "jpeg/500x375/class_007/000123.jpg: size 100 instead of 58211"
  std::vector<std::string> damaged;
  // The same of what the system does not give, each with a remedy: whether it is damaged is
  // unknown.
  std::vector<std::string> unreadable;
  // Of a folder without a manifest: XXH3-64 of all files' names and contents, in 16 hex digits.
  std::string contents_xxh3;

  bool is_sound() const { return damaged.empty() && unreadable.empty(); }
};
// Reads every file of every variant and compares size and checksum with the manifests. `threads`
// readers. `on_progress` (may be empty) is called now and then with (bytes done, bytes in all).
VerifyResult verify_dataset(const std::filesystem::path& data, int threads,
                            const std::function<void(std::uint64_t, std::uint64_t)>& on_progress);

// Reads every sample of a folder of the user's own (list_image_folder(), list_tar_shards()), which
// has no checksums to compare with: finds what cannot be read or has changed, and says what two
// copies can be compared by.
VerifyResult verify_own_folder(
    DatasetVariant variant, int threads,
    const std::function<void(std::uint64_t, std::uint64_t)>& on_progress);

}  // namespace feedrate::storage
