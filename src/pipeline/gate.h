#pragma once
#include <atomic>
#include <condition_variable>
#include <mutex>

namespace feedrate::pipeline {

// Where a loader's workers stand still while the loader is paused. Thread-safe.
class Gate {
 public:
  void shut() { set(kShut); }
  void open() { set(kOpen); }
  // Opens it for good: the workers are to end.
  void remove() { set(kRemoved); }

  // Returns at once, or when the gate is open again.
  void pass() {
    if (state_.load(std::memory_order_relaxed) != kShut) return;
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return state_ != kShut; });
  }

 private:
  enum State { kOpen, kShut, kRemoved };

  void set(State state) {
    {
      const std::lock_guard lock(mutex_);
      if (state_ == kRemoved) return;
      state_ = state;
    }
    opened_.notify_all();
  }

  std::atomic<State> state_{kOpen};
  std::mutex mutex_;
  std::condition_variable opened_;
};

}  // namespace feedrate::pipeline
