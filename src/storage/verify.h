#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
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
  // Samples that are whole, as far as anybody knows, but cannot be decoded.
  std::vector<std::string> bad;
  // Of a folder without a manifest: XXH3-64 of all files' names and contents, in 16 hex digits.
  std::string contents_xxh3;

  // Every byte is there; pictures may be bad all the same.
  bool is_whole() const { return damaged.empty() && unreadable.empty(); }
  bool is_sound() const { return is_whole() && bad.empty(); }
};
// Called with (bytes done, bytes in all) after each sample, by the thread that has checked it, one
// call at a time; may be empty.
using VerifyProgress = std::function<void(std::uint64_t, std::uint64_t)>;
// Told which sample, file or folder a thread waits for next, and again after each piece of a file:
// whoever hears nothing takes the storage for stalled. From any thread.
using VerifyWaits = std::function<void(const std::string&)>;

// Looks at the bytes of a sample that is whole: what is wrong with them, or nothing. `name` ends as
// its file does. Used by one thread.
using CheckSample =
    std::function<std::string(std::span<const std::byte> bytes, const std::string& name)>;
// Called once by each reading thread. Empty: samples are only read.
using MakeCheck = std::function<CheckSample()>;

// Reads every file of every variant and compares size and checksum with the manifests; then looks
// at it by `make_check`. `threads` readers.
VerifyResult verify_dataset(
    const std::filesystem::path& data, int threads, const VerifyProgress& on_progress,
    const VerifyWaits& waits_for = [](const std::string&) {}, const MakeCheck& make_check = {});

// Reads every sample of a folder of the user's own (list_image_folder(), list_tar_shards()), which
// has no checksums to compare with: finds what cannot be read or has changed, or is bad by
// `make_check`, and says what two copies can be compared by.
VerifyResult verify_own_folder(
    DatasetVariant variant, int threads, const VerifyProgress& on_progress,
    const VerifyWaits& waits_for = [](const std::string&) {}, const MakeCheck& make_check = {});

}  // namespace feedrate::storage
