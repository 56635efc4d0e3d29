#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "measure/clock.h"
#include "measure/ranges.h"
#include "measure/trace.h"

namespace feedrate::measure {

// What a worker does to a sample on the host, in the order in which it does it.
enum class Stage : std::uint8_t {
  lock,
  read,
  decode,
  augment,
  collate
};  // lock: waiting for a library that lets one thread in at a time
inline constexpr std::size_t kStageCount = 5;
inline constexpr std::array<std::string_view, kStageCount> kStageNames = {"lock", "read", "decode",
                                                                          "augment", "collate"};
static_assert(static_cast<std::size_t>(TraceKind::collate) + 1 == kStageCount,
              "a trace calls the stages by the same numbers");

struct StageTotal {
  std::int64_t wall_ns = 0;  // time that workers spent in the stage, all workers together
  std::int64_t cpu_ns = 0;   // CPU time of it; the gap to wall_ns is waiting for I/O, or preemption
  std::int64_t items = 0;    // samples
  std::int64_t bytes = 0;    // that the stage took in
};

struct StageTotals {
  std::array<StageTotal, kStageCount> stage{};
  // The part of the stages' wall time in which workers stood ready to run and had no CPU. Of all
  // workers together. 0: nobody counted it.
  std::int64_t cpu_wait_ns = 0;

  StageTotals& operator+=(const StageTotals& other) { return combine(other, 1); }
  StageTotals& operator-=(const StageTotals& other) { return combine(other, -1); }
  StageTotal& operator[](Stage s) { return stage[static_cast<std::size_t>(s)]; }
  const StageTotal& operator[](Stage s) const { return stage[static_cast<std::size_t>(s)]; }

 private:
  StageTotals& combine(const StageTotals& other, std::int64_t sign) {
    for (std::size_t i = 0; i < kStageCount; ++i) {
      stage[i].wall_ns += sign * other.stage[i].wall_ns;
      stage[i].cpu_ns += sign * other.stage[i].cpu_ns;
      stage[i].items += sign * other.stage[i].items;
      stage[i].bytes += sign * other.stage[i].bytes;
    }
    cpu_wait_ns += sign * other.cpu_wait_ns;
    return *this;
  }
};

// One worker's totals: written by that worker alone, read by anyone at any time (relaxed atomics: a
// reader may see a sample's stages half counted, never a torn number).
class StageCounters {
 public:
  void add(Stage stage, std::int64_t wall_ns, std::int64_t cpu_ns, std::int64_t bytes,
           std::int64_t items = 1) {
    auto& c = counters_[static_cast<std::size_t>(stage)];
    bump(c.wall_ns, wall_ns);
    bump(c.cpu_ns, cpu_ns);
    bump(c.items, items);
    bump(c.bytes, bytes);
  }
  // So far, see StageTotals.
  void set_cpu_wait(std::int64_t ns) { cpu_wait_ns_.store(ns, std::memory_order_relaxed); }
  StageTotals snapshot() const {
    StageTotals totals{.cpu_wait_ns = cpu_wait_ns_.load(std::memory_order_relaxed)};
    for (std::size_t i = 0; i < kStageCount; ++i) {
      totals.stage[i] = {counters_[i].wall_ns.load(std::memory_order_relaxed),
                         counters_[i].cpu_ns.load(std::memory_order_relaxed),
                         counters_[i].items.load(std::memory_order_relaxed),
                         counters_[i].bytes.load(std::memory_order_relaxed)};
    }
    return totals;
  }

 private:
  struct Counter {
    std::atomic<std::int64_t> wall_ns{0}, cpu_ns{0}, items{0}, bytes{0};
  };
  // One writer: a load and a store do, without the locked add.
  static void bump(std::atomic<std::int64_t>& a, std::int64_t by) {
    a.store(a.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  alignas(64) std::array<Counter, kStageCount> counters_;
  std::atomic<std::int64_t> cpu_wait_ns_{0};
};

// Splits a worker's time into stages: start(), then a lap() at the end of each stage. Used by one
// thread. The CPU clock is a system call (234 ns here, ten times the other's), so it is read once a
// lap, and at a start() only where the thread has done, or may have done, something else since the
// last lap.
class StageTimer {
 public:
  // `lane`: where the laps are kept one by one, too; null: nowhere.
  explicit StageTimer(StageCounters& counters, TraceLane* lane = nullptr)
      : counters_(counters), lane_(lane) {}
  // The sample of the laps to come, by its place in the rank's stream.
  void of(std::int64_t sample) { sample_ = sample; }
  // All laps will be of this stage: short ones that follow each other share one look at the CPU
  // clock. No more CPU time is counted than they lasted.
  void expect_only(Stage stage) { only_ = stage; }
  // A stage begins: for tools that show ranges, of which the next lap() or start() ends it.
  void begin(Stage stage) {
    if (!shows_ranges_) return;
    end_any_range();
    begin_range(static_cast<TraceKind>(stage));
    in_range_ = true;
  }
  void start() {
    end_any_range();
    const std::int64_t wall = now_ns(), gap = wall - wall_;
    // In a short gap the thread has computed something else; in a long one it has slept, mostly.
    if (cpu_ < 0 || gap > kNothing) count_cpu(gap < kShort ? gap : 0);
    wall_ = wall;
  }
  // Before the thread computes something else for long: the CPU time so far is the laps'.
  void settle() {
    if (cpu_ >= 0) count_cpu(0);
  }
  // The end of the last lap, or the last start(), by now_ns().
  std::int64_t last_ns() const { return wall_; }
  // Counts the first `ns` of the next lap() into `stage` instead, in which the thread only waited.
  void take(Stage stage, std::int64_t ns) {
    counters_.add(stage, ns, 0, 0);
    if (ns > 0) keep(stage, wall_, wall_ + ns);
    wall_ += ns;
  }
  // A stage that had nothing to do for this sample.
  void pass(Stage stage, std::int64_t bytes) { counters_.add(stage, 0, 0, bytes); }
  void lap(Stage stage, std::int64_t bytes) { lap(stage, bytes, 1); }
  // Work for a stage that belongs to no sample of its own, or to one that failed.
  void more(Stage stage) { lap(stage, 0, 0); }
  // Time of the sample's stage that another one has measured, outside the laps.
  void add(Stage stage, std::int64_t start_ns, std::int64_t end_ns, std::int64_t cpu_ns) {
    counters_.add(stage, end_ns - start_ns, cpu_ns, 0, 0);
    keep(stage, start_ns, end_ns);
  }

 private:
  void lap(Stage stage, std::int64_t bytes, std::int64_t items) {
    const std::int64_t wall = now_ns();
    const std::int64_t lasted = wall - std::exchange(wall_, wall);
    end_any_range();
    keep(stage, wall - lasted, wall);
    if (only_) {
      counters_.add(stage, lasted, 0, bytes, items);
      uncounted_ += lasted;
      if (uncounted_ >= kShort) count_cpu(0);
      return;
    }
    const std::int64_t cpu = thread_cpu_ns();
    counters_.add(stage, lasted, cpu - std::exchange(cpu_, cpu), bytes, items);
  }
  void end_any_range() {
    if (std::exchange(in_range_, false)) end_range();
  }
  void keep(Stage stage, std::int64_t start_ns, std::int64_t end_ns) {
    if (lane_) lane_->add(static_cast<TraceKind>(stage), start_ns, end_ns, sample_);
  }
  // Looks at the CPU clock, and counts the CPU time of the laps since the last look that have none,
  // without `other_ns` that went to something else.
  void count_cpu(std::int64_t other_ns) {
    const std::int64_t cpu = thread_cpu_ns();
    const std::int64_t lasted = std::exchange(uncounted_, 0);
    if (lasted > 0) {
      counters_.add(*only_, 0, std::clamp<std::int64_t>(cpu - cpu_ - other_ns, 0, lasted), 0, 0);
    }
    cpu_ = cpu;
  }

  static constexpr std::int64_t kNothing = 2000;  // ns: two samples follow each other
  static constexpr std::int64_t kShort = 50'000;  // ns without a look at the CPU clock

  StageCounters& counters_;
  TraceLane* const lane_;
  const bool shows_ranges_ = shows_ranges();
  bool in_range_ = false;
  std::int64_t sample_ = 0;
  std::optional<Stage> only_;
  std::int64_t uncounted_ = 0;  // ns that the laps lasted whose CPU time is not counted yet
  std::int64_t wall_ = 0;
  std::int64_t cpu_ = -1;  // at the last look; -1: none yet
};

}  // namespace feedrate::measure
