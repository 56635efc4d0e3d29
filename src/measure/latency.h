#pragma once
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace feedrate::measure {

// Buckets for durations in nanoseconds: exact below 256, from there on 128 to an octave, so that a
// bucket is at most 1/128 (0.8 %) wide, as in HdrHistogram (hdrhistogram.org) and fio.
inline constexpr int kLatencyBits = 7;
inline constexpr int kLatencyOctaves = 33;  // up to 2^41 ns, 36 minutes; longer ones count as that
inline constexpr std::size_t kLatencyBuckets = std::size_t{kLatencyOctaves + 2} << kLatencyBits;

constexpr std::size_t latency_bucket(std::int64_t ns) {
  const auto value = static_cast<std::uint64_t>(ns < 0 ? 0 : ns);
  const int octave = static_cast<int>(std::bit_width(value >> kLatencyBits));
  if (octave <= 1) return value;
  if (octave > kLatencyOctaves + 1) return kLatencyBuckets - 1;
  return (static_cast<std::size_t>(octave - 1) << kLatencyBits) + (value >> (octave - 1));
}
// The middle of a bucket.
constexpr std::int64_t latency_of_bucket(std::size_t bucket) {
  const auto octave = static_cast<int>(bucket >> kLatencyBits);
  if (octave <= 1) return static_cast<std::int64_t>(bucket);
  const std::int64_t width = std::int64_t{1} << (octave - 1);
  const std::size_t kept = bucket - (static_cast<std::size_t>(octave - 1) << kLatencyBits);
  return static_cast<std::int64_t>(kept) * width + width / 2;
}

// How many durations fell into each bucket.
struct LatencyHistogram {
  std::array<std::int64_t, kLatencyBuckets> counts{};

  std::int64_t count() const;
  // The duration that a share `p` (0 to 1) of all does not exceed, within 0.4 %; 0 if there are
  // none.
  std::int64_t percentile_ns(double p) const;
  // The same if there are `unknown` more, of which nobody knows how long they are; nothing if these
  // can move it by more than 5 %, wherever they lie.
  std::optional<std::int64_t> percentile_ns(double p, std::int64_t unknown) const;
  std::int64_t longest_ns() const { return percentile_ns(1); }
  LatencyHistogram& operator+=(const LatencyHistogram& other);
  LatencyHistogram& operator-=(const LatencyHistogram& other);
};

// One thread's durations: written by that thread alone, read by anyone at any time.
class LatencyCounters {
 public:
  void add(std::int64_t ns) {
    auto& count = counts_[latency_bucket(ns)];
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void add_to(LatencyHistogram& histogram) const {
    for (std::size_t i = 0; i < kLatencyBuckets; ++i)
      histogram.counts[i] += counts_[i].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::int64_t>, kLatencyBuckets> counts_{};
};

}  // namespace feedrate::measure
