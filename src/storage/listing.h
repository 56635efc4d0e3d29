#pragma once
#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "measure/clock.h"
#include "storage/dataset.h"

namespace feedrate::storage {

// What the listings of a user's own folders share: image_folder.h, tar_shards.h.

// Told now and then how many files were listed so far; from any thread, one call at a time. The
// same number again, also 0, says that the listing goes on: whoever hears nothing takes it for
// stalled.
using ListProgress = std::function<void(std::uint64_t)>;

// Told a line that the user should see.
using ListNote = std::function<void(const std::string&)>;

// Counts files, and tells each 1024th, and where these are far between, that it goes on.
// Thread-safe.
class ListCount {
 public:
  explicit ListCount(ListProgress progress) : progress_(std::move(progress)) {}
  void one() {
    const std::uint64_t count = ++count_;
    if (count % 1024 == 0) {
      tell(count);
    } else {
      alive();
    }
  }
  // Something else was done than to list a file: an entry of a folder was looked at, say.
  void alive() {
    std::int64_t told = told_ns_;
    const std::int64_t now = measure::now_ns();
    if (now - told > kSilentNs && told_ns_.compare_exchange_strong(told, now)) tell(count_);
  }

 private:
  void tell(std::uint64_t count) {
    if (!progress_) return;
    const std::lock_guard lock(mutex_);
    told_ns_ = measure::now_ns();
    progress_(count);
  }

  static constexpr std::int64_t kSilentNs = 200'000'000;

  const ListProgress progress_;
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::int64_t> told_ns_{measure::now_ns()};
  std::mutex mutex_;
};

// Keys of DatasetVariant::made of a user's own folder: how its classes lie, where that is not as
// usual, and how many entries were left out, by kind: "31 (30 webp, 1 gif)".
inline constexpr const char* kLayout = "layout";
inline constexpr const char* kLeftOut = "left_out";
// The line of it for the user: "DIR: no class folders: one class; left out: 3 (3 hidden)". Empty:
// nothing is to be said.
std::string listing_note(const DatasetVariant& variant);

// A time of stat(2) in ns since 1970; and when a file or folder was last changed.
std::int64_t ns_of(const struct timespec& time);
std::int64_t changed_ns(const struct stat& info);

// Whether an errno of looking behind a link says that nothing is there: it dangles, or loops.
bool leads_nowhere(int error);

// Whether a text is `lower`, in small letters, but for the case.
bool is_in_any_case(std::string_view text, std::string_view lower);
// Whether a name ends in one of these, in small letters, and has more than that.
bool has_suffix(std::string_view name, std::span<const std::string_view> suffixes);
// ".jpg or .jpeg"
std::string either_of(std::span<const std::string_view> suffixes);

}  // namespace feedrate::storage
