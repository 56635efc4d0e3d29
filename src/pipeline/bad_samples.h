#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>

namespace feedrate::pipeline {

// What --on-bad skip has met, warm-up included. Totals of several processes can be added.
struct BadTotals {
  static constexpr std::size_t kNamed = 20;

  std::int64_t count = 0;           // how often a sample was skipped; one drawn again counts again
  std::int64_t drawn = 0;           // how often a sample was drawn, those that were good included
  std::int64_t of = 0;              // how many samples there are
  std::set<std::int64_t> pictures;  // those that are bad, of the drawn ones
  std::map<std::int64_t, std::string> named;  // the errors of kNamed of them

  // The error of the first one; empty: none is bad.
  std::string first() const { return named.empty() ? std::string() : named.begin()->second; }

  // Each sample is drawn once before any is drawn again, whichever rank draws it: these totals are
  // of all ranks.
  std::int64_t different_drawn() const {
    return std::max(std::min(drawn, of), static_cast<std::int64_t>(pictures.size()));
  }

  BadTotals& operator+=(const BadTotals& other) {
    count += other.count, drawn += other.drawn, of = std::max(of, other.of);
    pictures.insert(other.pictures.begin(), other.pictures.end());
    named.insert(other.named.begin(), other.named.end());
    while (named.size() > kNamed) named.erase(std::prev(named.end()));
    return *this;
  }
};

// The samples that --on-bad skip has skipped. Takes memory for each that is bad. Thread-safe.
class BadSamples {
 public:
  // `sample`: its index in the dataset. `was_drawn`: else it was to replace another, and tells
  // nothing of how many there are: its neighbour was bad, too.
  void add(std::int64_t sample, const std::string& message, bool was_drawn) {
    const std::lock_guard lock(mutex_);
    ++totals_.count;
    if (!was_drawn) return;
    if (totals_.pictures.insert(sample).second && totals_.named.size() < BadTotals::kNamed)
      totals_.named.emplace(sample, message);
  }
  // A sample was drawn, and it or what replaces it was made.
  void count_draw() { drawn_.fetch_add(1, std::memory_order_relaxed); }

  // Without BadTotals::of.
  BadTotals totals() const {
    const std::lock_guard lock(mutex_);
    BadTotals totals = totals_;
    totals.drawn = drawn_;
    return totals;
  }

 private:
  std::atomic<std::int64_t> drawn_{0};
  mutable std::mutex mutex_;
  BadTotals totals_;
};

}  // namespace feedrate::pipeline
