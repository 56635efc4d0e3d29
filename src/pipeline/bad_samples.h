#pragma once
#include <cstdint>
#include <mutex>
#include <string>

namespace feedrate {

// How often a sample was passed over (one that is drawn again counts again), and why the first one.
struct BadTotals {
  std::int64_t count = 0;
  std::string first;
};

// What --on-bad skip has passed over. Thread-safe.
class BadSamples {
 public:
  void add(const std::string& message) {
    const std::lock_guard lock(mutex_);
    if (totals_.count++ == 0) totals_.first = message;
  }
  BadTotals totals() const {
    const std::lock_guard lock(mutex_);
    return totals_;
  }

 private:
  mutable std::mutex mutex_;
  BadTotals totals_;
};

}  // namespace feedrate
