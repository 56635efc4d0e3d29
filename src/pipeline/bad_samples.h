#pragma once
#include <cstdint>
#include <mutex>
#include <string>

namespace feedrate::pipeline {

// How many samples were skipped (a sample that is drawn again counts again), and the error of the
// first one.
struct BadTotals {
  std::int64_t count = 0;
  std::string first;
};

// The samples that --on-bad skip has skipped. Thread-safe.
class BadSamples {
 public:
  void add(const std::string& message) {
    const std::lock_guard lock(mutex_);
    if (++totals_.count == 1) totals_.first = message;
  }
  BadTotals totals() const {
    const std::lock_guard lock(mutex_);
    return totals_;
  }

 private:
  mutable std::mutex mutex_;
  BadTotals totals_;
};

}  // namespace feedrate::pipeline
