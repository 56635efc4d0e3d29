#pragma once
#include <cstdint>
#include <mutex>
#include <string>

namespace feedrate {

// What --on-bad skip has passed over. Thread-safe.
class BadSamples {
 public:
  void add(const std::string& message) {
    const std::lock_guard lock(mutex_);
    if (count_++ == 0) first_ = message;
  }
  std::int64_t count() const {
    const std::lock_guard lock(mutex_);
    return count_;
  }
  std::string first() const {
    const std::lock_guard lock(mutex_);
    return first_;
  }

 private:
  mutable std::mutex mutex_;
  std::int64_t count_ = 0;  // a sample that is drawn again counts again
  std::string first_;
};

}  // namespace feedrate
