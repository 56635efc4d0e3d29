#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace feedrate::pipeline {

// Samples of which something was noted, warm-up included. Those of several processes can be added.
struct NotedTotals {
  bool is_counted = false;            // else nobody looked
  std::vector<std::int64_t> samples;  // each once, in order

  NotedTotals& operator+=(const NotedTotals& other) {
    is_counted |= other.is_counted;
    std::vector<std::int64_t> all;
    std::ranges::set_union(samples, other.samples, std::back_inserter(all));
    samples = std::move(all);
    return *this;
  }
};

// Notes samples of a dataset, each once however often it is drawn: a bit for each sample, so that
// noting takes neither memory nor a lock. Thread-safe.
class NotedSamples {
 public:
  explicit NotedSamples(std::size_t samples) : words_((samples + kBits - 1) / kBits) {}

  // `sample`: its index in the dataset.
  void note(std::int64_t sample) {
    const auto index = static_cast<std::size_t>(sample);
    const std::uint64_t bit = std::uint64_t{1} << (index % kBits);
    std::atomic<std::uint64_t>& word = words_[index / kBits];
    if ((word.load(std::memory_order_relaxed) & bit) == 0)
      word.fetch_or(bit, std::memory_order_relaxed);
  }

  NotedTotals totals() const {
    NotedTotals totals{.is_counted = true, .samples = {}};
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t left = words_[w].load(std::memory_order_relaxed); left != 0;
           left &= left - 1)
        totals.samples.push_back(static_cast<std::int64_t>(
            w * kBits + static_cast<std::size_t>(std::countr_zero(left))));
    }
    return totals;
  }

 private:
  static constexpr std::size_t kBits = 64;  // of a word

  std::vector<std::atomic<std::uint64_t>> words_;
};

}  // namespace feedrate::pipeline
