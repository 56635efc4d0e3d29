#include "train/device_clock_cuda.h"

#include <cmath>
#include <limits>
#include <utility>

#include "measure/clock.h"

namespace feedrate::train {

// An event on an idle stream happens between the two readings of the host's clock around it; of
// some tries the tightest is kept.
DeviceClock::DeviceClock(const c10::cuda::CUDAStream& stream) {
  stream.synchronize();
  std::int64_t tightest = std::numeric_limits<std::int64_t>::max();
  for (int attempt = 0; attempt < 16; ++attempt) {
    c10::cuda::CUDAEvent event(cudaEventDefault);  // spins: woken sooner
    event.record(stream);                          // creates it, which takes its time
    event.synchronize();
    const std::int64_t before = measure::now_ns();
    event.record(stream);
    event.synchronize();
    const std::int64_t after = measure::now_ns();
    if (after - before >= tightest) continue;
    tightest = after - before;
    origin_ns_ = static_cast<double>(before) + 0.5 * static_cast<double>(tightest);
    std::swap(origin_, event);
  }
}

double DeviceClock::since_origin_ns(const c10::cuda::CUDAEvent& event) const {
  return static_cast<double>(origin_.elapsed_time(event)) * 1e6;
}

std::int64_t DeviceClock::ns(const c10::cuda::CUDAEvent& event) const {
  return std::llround(origin_ns_ + since_origin_ns(event));
}

void DeviceClock::rebase(c10::cuda::CUDAEvent& event) {
  constexpr double kEvery = 1e9;  // up to here a float of milliseconds is exact to 60 ns
  const double passed = since_origin_ns(event);
  if (passed < kEvery) return;
  origin_ns_ += passed;
  std::swap(origin_, event);
}

}  // namespace feedrate::train
