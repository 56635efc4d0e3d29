#pragma once
#include <c10/cuda/CUDAEvent.h>

#include <cstdint>

namespace feedrate::train {

// Puts a GPU's events on the clock of now_ns(). The two timelines are tied together once, when it
// is made; the differences of a GPU's own events are exact to about a microsecond, the tie to what
// a record and a wait take (tens of microseconds), the same for all events. The two clocks' drift
// (some parts per million) is not corrected.
class DeviceClock {
 public:
  // Waits for the stream.
  explicit DeviceClock(const c10::cuda::CUDAStream& stream);

  // When `event` happened. It has ended and was made with timing. It may have happened a little
  // before the last event that was given to rebase(): then the difference is negative.
  std::int64_t ns(const c10::cuda::CUDAEvent& event) const;

  // CUDA measures differences in a float of milliseconds, which loses its microseconds after some
  // minutes. So the origin follows: call with each ended event that is not needed any more; now and
  // then it is swapped for the old origin.
  void rebase(c10::cuda::CUDAEvent& event);

 private:
  double since_origin_ns(const c10::cuda::CUDAEvent& event) const;

  c10::cuda::CUDAEvent origin_{cudaEventBlockingSync};
  double origin_ns_ = 0;  // on the clock of now_ns(), accumulated
};

}  // namespace feedrate::train
