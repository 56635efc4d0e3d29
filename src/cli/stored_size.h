#pragma once
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

namespace feedrate::cli {

// A size as --image-size and --detail name it.
struct StoredSize {
  std::string size;        // "500x375", "mixed"
  std::string detail;      // empty: the usual one
  bool made = true;        // by `gen`; else a folder of pictures as it lies
  bool is_shards = false;  // not made: tar shards, no class folders
  bool operator==(const StoredSize&) const = default;
};

// The one size in which a dataset holds pictures of these kinds ("jpeg", "png.tar"), all of them;
// "mixed" for a folder of pictures that no `gen` made. None if there are several or none: what is
// read then says why. For a process without other threads: another one looks, and is left behind
// where the storage does not answer.
struct StoredSizeLook {
  bool is_answered = false;  // in time
  std::optional<StoredSize> only{};
  bool is_nothing_of_gens = false;  // neither what was asked for is there nor anything of gen's
};
StoredSizeLook look_for_stored_size(const std::filesystem::path& dataset,
                                    const std::set<std::string>& kinds,
                                    std::chrono::milliseconds patience);

}  // namespace feedrate::cli
