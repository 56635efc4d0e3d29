#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "device/gpu_streams.h"
#include "measure/clock.h"

namespace feedrate::device {

// Puts a GPU's events on the clock of now_ns(). The two timelines are tied together once, when it
// is made; the differences of a GPU's own events are exact to about a microsecond, the tie to what
// a record and a wait take (tens of microseconds), the same for all events. The two clocks' drift
// (some parts per million) is not corrected.
template <GpuStreams Gpu>
class EventClock {
 public:
  using Event = typename Gpu::Event;

  // Waits for the stream. `host_ns`: the host's clock.
  explicit EventClock(const typename Gpu::Stream& stream,
                      std::int64_t (*host_ns)() = measure::now_ns)
      : origin_(Gpu::sleeping_event()) {
    stream.synchronize();
    // Spinning waits end sooner. None of their events may stay: see rebase().
    Event tied = Gpu::spinning_event();
    std::int64_t tightest = std::numeric_limits<std::int64_t>::max();
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      Event event = Gpu::spinning_event();
      event.record(stream);  // creates it, which takes its time
      event.synchronize();
      // On an idle stream it happens between the two readings of the host's clock.
      const std::int64_t before = host_ns();
      event.record(stream);
      event.synchronize();
      const std::int64_t after = host_ns();
      if (after - before >= tightest) continue;
      tightest = after - before;
      origin_ns_ = static_cast<double>(before) + 0.5 * static_cast<double>(tightest);
      std::swap(tied, event);
    }
    origin_.record(stream);
    origin_.synchronize();
    origin_ns_ += kNsPerMs * static_cast<double>(tied.elapsed_time(origin_));
  }

  // When `event` happened. It has ended and was made with timing. It may have happened a little
  // before the last event that was given to rebase(): then the difference is negative.
  std::int64_t ns(const Event& event) const {
    return std::llround(origin_ns_ + since_origin_ns(event));
  }

  // CUDA measures differences in a float of milliseconds, which loses its microseconds after some
  // minutes. So the origin follows: call with each ended event that is not needed any more; now and
  // then it is swapped for the old origin, which is a sleeping event, as this one has to be.
  void rebase(Event& event) {
    constexpr double kEvery = 1e9;  // up to here a float of milliseconds is exact to 60 ns
    const double passed = since_origin_ns(event);
    if (passed < kEvery) return;
    origin_ns_ += passed;
    std::swap(origin_, event);
  }

 private:
  static constexpr int kAttempts = 16;
  static constexpr double kNsPerMs = 1e6;

  double since_origin_ns(const Event& event) const {
    return kNsPerMs * static_cast<double>(origin_.elapsed_time(event));
  }

  Event origin_;
  double origin_ns_ = 0;  // on the clock of now_ns(), accumulated
};

}  // namespace feedrate::device
