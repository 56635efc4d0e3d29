#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace feedrate::measure {

// Where a run can be delayed on purpose, to learn what limits it: what binds is what slows the
// whole when it is slowed (Curtsinger and Berger 2015: "Coz: Finding Code that Counts with Causal
// Profiling", SOSP).
enum class Place : std::uint8_t {
  worker,      // each sample, in the loader thread that makes it
  copy,        // each batch's way to the device
  step,        // each step, on the device; burnt: in the thread that launches it
  all_reduce,  // each step, after the ranks have averaged their gradients
  storage,     // which gets more to read, by threads of their own
  in_flight    // reads that a worker has on their way: fewer of them
};
inline constexpr std::size_t kPlaceCount = 6;
inline constexpr std::array<std::string_view, kPlaceCount> kPlaceNames = {
    "worker", "copy", "step", "all-reduce", "storage", "reads in flight"};
inline constexpr std::array<Place, kPlaceCount> kPlaces = {
    Place::worker, Place::copy, Place::step, Place::all_reduce, Place::storage, Place::in_flight};

struct Delay {
  std::int64_t ns = 0;  // 0: none
  bool burns = false;   // CPU time, taken from whatever else runs; else it is slept
  double reads = 0;     // of the storage alone: more, for each sample
  double withheld = 0;  // of reads in flight alone: the share of a worker's that it may not have

  bool is_on() const { return ns > 0 || reads > 0 || withheld > 0; }
};

// Delays that are switched while a run goes on. One thread sets them, any may serve them.
class Delays {
 public:
  // On top of what set() says, for as long as the run lasts: a known bottleneck, to test the
  // diagnosis by. Slept. Before the run.
  void plant(Place place, std::int64_t ns) { planted_[index(place)] = ns; }
  void set(Place place, Delay delay) {
    // One number, so that nobody sees the time of one delay with the kind of another.
    delays_[index(place)].store(2 * delay.ns + (delay.burns ? 1 : 0), std::memory_order_relaxed);
    if (place == Place::storage) reads_.store(delay.reads, std::memory_order_relaxed);
    if (place == Place::in_flight) withheld_.store(delay.withheld, std::memory_order_relaxed);
  }
  // To sleep now, in ns; and to burn.
  std::int64_t slept(Place place) const {
    const std::int64_t now = delays_[index(place)].load(std::memory_order_relaxed);
    return planted_[index(place)] + (now % 2 == 0 ? now / 2 : 0);
  }
  std::int64_t burnt(Place place) const {
    const std::int64_t now = delays_[index(place)].load(std::memory_order_relaxed);
    return now % 2 == 1 ? now / 2 : 0;
  }
  // More for each sample, now.
  double reads() const { return reads_.load(std::memory_order_relaxed); }
  // Of `depth` reads that a worker may have in flight, how many it may not have now: one stays.
  std::size_t withheld(std::size_t depth) const {
    const double share = withheld_.load(std::memory_order_relaxed);
    if (share <= 0 || depth < 2) return 0;
    const auto reads = static_cast<std::size_t>(share * static_cast<double>(depth) + 0.5);
    return reads < depth ? reads : depth - 1;
  }

 private:
  static std::size_t index(Place place) { return static_cast<std::size_t>(place); }
  std::array<std::int64_t, kPlaceCount> planted_{};
  std::array<std::atomic<std::int64_t>, kPlaceCount> delays_{};
  std::atomic<double> reads_{0}, withheld_{0};
};

// The same of delays that may be null.
inline std::int64_t slept(const Delays* delays, Place place) {
  return delays ? delays->slept(place) : 0;
}
inline std::int64_t burnt(const Delays* delays, Place place) {
  return delays ? delays->burnt(place) : 0;
}
inline std::size_t withheld(const Delays* delays, std::size_t depth) {
  return delays ? delays->withheld(depth) : 0;
}

// Sleeps `ns` on average: where one sleep was too long, the next is shorter. For one thread.
class ExactSleep {
 public:
  void sleep(std::int64_t ns);
  // What it has slept too long and will make good; negative: too short.
  std::int64_t owed_ns() const { return owed_ns_; }

 private:
  std::int64_t owed_ns_ = 0;
};

// Computes until this thread has used `ns` of CPU time.
void burn(std::int64_t ns);

// Serves a place in the thread that calls. For one thread.
class DelayServer {
 public:
  explicit DelayServer(const Delays* delays) : delays_(delays) {}  // may be null; outlives it
  void serve(Place place) {
    if (delays_ == nullptr) return;
    sleeps_[static_cast<std::size_t>(place)].sleep(delays_->slept(place));
    burn(delays_->burnt(place));
  }

 private:
  const Delays* const delays_;
  std::array<ExactSleep, kPlaceCount> sleeps_;
};

}  // namespace feedrate::measure
