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

  // What a worker holds while it makes a sample. Waits until the gate is open.
  class Pass {
   public:
    explicit Pass(Gate& gate) : gate_(gate) { gate_.enter(); }
    ~Pass() { --gate_.inside_; }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

   private:
    Gate& gate_;
  };

  // Of a gate that was shut: whether no sample is being made, and none will be.
  bool is_quiet() const { return inside_ == 0; }

 private:
  enum State { kOpen, kShut, kRemoved };

  // Counted before the gate is looked at: is_quiet() misses no worker that found it open.
  void enter() {
    for (++inside_; state_ == kShut; ++inside_) {
      --inside_;
      std::unique_lock lock(mutex_);
      opened_.wait(lock, [this] { return state_ != kShut; });
    }
  }

  void set(State state) {
    {
      const std::lock_guard lock(mutex_);
      if (state_ == kRemoved) return;
      state_ = state;
    }
    opened_.notify_all();
  }

  std::atomic<State> state_{kOpen};
  std::atomic<int> inside_{0};
  std::mutex mutex_;
  std::condition_variable opened_;
};

}  // namespace feedrate::pipeline
