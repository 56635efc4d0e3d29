#pragma once
#include <c10/cuda/CUDAStream.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "measure/delays.h"

namespace feedrate::train {

// Holds up a stream at one place. What it queues refers to it: it outlives the stream's work.
class StreamDelay {
 public:
  // `delays` may be null; outlives it.
  StreamDelay(const measure::Delays* delays, measure::Place place)
      : delays_(delays), place_(place) {}
  StreamDelay(const StreamDelay&) = delete;
  StreamDelay& operator=(const StreamDelay&) = delete;

  // What is queued after this call waits as long as is to be slept now. Burns in this thread. Not
  // while a graph is captured, and no more than kTurns at once.
  void queue(const c10::cuda::CUDAStream& stream);

 private:
  struct Turn {
    measure::ExactSleep* sleep = nullptr;
    std::int64_t ns = 0;
  };
  static constexpr std::size_t kTurns = 4;  // steps and copies are two ahead at most
  static void take(void* turn);             // in a thread of the driver, one after the other

  const measure::Delays* const delays_;
  const measure::Place place_;
  measure::ExactSleep sleep_;
  std::array<Turn, kTurns> turns_;
  std::size_t queued_ = 0;
};

}  // namespace feedrate::train
