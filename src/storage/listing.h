#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace feedrate::storage {

// What the listings of a user's own folders share: image_folder.h, tar_shards.h.

// Told now and then how many files were listed so far; from any thread, one call at a time.
using ListProgress = std::function<void(std::uint64_t)>;

// Counts files, and tells each 1024th. Thread-safe.
class ListCount {
 public:
  explicit ListCount(const ListProgress& progress) : progress_(progress) {}
  void one() {
    const std::uint64_t count = ++count_;
    if (!progress_ || count % 1024 != 0) return;
    const std::lock_guard lock(mutex_);
    progress_(count);
  }

 private:
  const ListProgress& progress_;
  std::atomic<std::uint64_t> count_{0};
  std::mutex mutex_;
};

// Whether a text is `lower`, in small letters, but for the case.
bool is_in_any_case(std::string_view text, std::string_view lower);
// ".jpg or .jpeg"
std::string either_of(std::span<const std::string_view> suffixes);

}  // namespace feedrate::storage
