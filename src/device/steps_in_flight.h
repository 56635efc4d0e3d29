#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "device/accelerator.h"
#include "device/event_clock.h"
#include "device/gpu_streams.h"

namespace feedrate::device {

// The steps of a GPU that are queued and not yet known to have ended, two at most, and when each
// ran. The host sleeps while it waits for one: a wait that spins costs the loaders a CPU.
template <GpuStreams Gpu>
class StepsInFlight {
 public:
  using Stream = typename Gpu::Stream;
  using Event = typename Gpu::Event;

  static constexpr std::size_t kMost = 2;

  // Is told of each step that has ended, in order, before its number is given out again: see
  // number().
  using Ended = std::function<void(std::size_t number)>;

  // `times_exchange`: handed_over() and averaged() are called in each step.
  StepsInFlight(Stream compute, bool times_exchange, Ended ended,
                std::int64_t (*host_ns)() = measure::now_ns)
      : compute_(compute),
        times_exchange_(times_exchange),
        clock_(compute, host_ns),
        ended_hook_(std::move(ended)) {}

  // Makes room for one more: waits for the oldest while there is none.
  void make_room() {
    if (started_ - ended_ == kMost) retire_oldest();
  }
  // Which of kMost places the step has that is queued now, for what is kept of each.
  std::size_t number() const { return started_ % kMost; }

  // A step starts when its batch is there and the step before, which is in front of it on the
  // stream, has ended. Between the two calls its work is queued.
  void begin() { events_[number()].start.record(compute_); }
  void end() {
    events_[number()].end.record(compute_);
    ++started_;
  }
  // Within it: its last gradients are on their way; all of them are the ranks' mean.
  void handed_over() { events_[number()].handed_over.record(compute_); }
  void averaged() { events_[number()].averaged.record(compute_); }

  // Notes the steps that have ended; does not wait.
  void look() {
    while (ended_ < started_ && events_[ended_ % kMost].end.query()) retire_oldest();
  }
  // Waits for all of them.
  void drain() {
    while (ended_ < started_) retire_oldest();
  }

  std::size_t started() const { return started_; }
  std::size_t ended() const { return ended_; }
  const EventClock<Gpu>& clock() const { return clock_; }

  // The steps that were noted since the last call, in order. Their losses are unknown.
  std::vector<StepRecord> take_finished() { return std::exchange(finished_, {}); }

 private:
  struct StepEvents {
    Event start = Gpu::sleeping_event(), end = Gpu::sleeping_event();
    Event handed_over = Gpu::sleeping_event(), averaged = Gpu::sleeping_event();
  };

  void retire_oldest() {
    StepEvents& events = events_[ended_ % kMost];
    events.end.synchronize();
    StepRecord step{clock_.ns(events.start), clock_.ns(events.end),
                    std::numeric_limits<double>::quiet_NaN()};
    if (times_exchange_)
      step.sync_ns = static_cast<std::int64_t>(
          1e6 * static_cast<double>(events.handed_over.elapsed_time(events.averaged)));
    finished_.push_back(step);
    clock_.rebase(events.end);
    const std::size_t number = ended_++ % kMost;
    if (ended_hook_) ended_hook_(number);
  }

  const Stream compute_;
  const bool times_exchange_;
  EventClock<Gpu> clock_;
  const Ended ended_hook_;
  std::array<StepEvents, kMost> events_;
  std::size_t started_ = 0, ended_ = 0;  // steps; those between are in flight
  std::vector<StepRecord> finished_;
};

}  // namespace feedrate::device
