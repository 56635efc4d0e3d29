#include "train/operators.h"

#include <torch/csrc/autograd/profiler_kineto.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>

#include "measure/clock.h"

namespace feedrate::train {
namespace {

namespace profiler = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;

// What the profiler's clock, the wall clock, is ahead of now_ns(): the reading that was disturbed
// least of some.
std::int64_t wall_clock_ahead() {
  std::int64_t ahead = 0, shortest = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 10; ++i) {
    const std::int64_t before = measure::now_ns();
    const std::int64_t wall = measure::clock_ns(CLOCK_REALTIME);
    const std::int64_t took = measure::now_ns() - before;
    if (took >= shortest) continue;
    shortest = took;
    ahead = wall - before - took / 2;
  }
  return ahead;
}

// A CUDA call that this LibTorch does not know is "INVALID" to its profiler.
std::string name_of(const profiler::KinetoEvent& event) {
  std::string name = event.name();
  return name == "INVALID" ? "CUDA call of an unknown name" : name;
}

// On from begin to end.
class Profiling {
 public:
  explicit Profiling(bool on_gpu) {
    std::set<ActivityType> activities = {ActivityType::CPU};
    if (on_gpu) activities.insert(ActivityType::CUDA);
    const torch::profiler::impl::ProfilerConfig config(
        torch::profiler::impl::ProfilerState::KINETO);
    profiler::prepareProfiler(config, activities);
    profiler::enableProfiler(config, activities,
                             {at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION});
  }
  ~Profiling() {
    if (is_on_) profiler::disableProfiler();  // the steps failed
  }
  Profiling(const Profiling&) = delete;
  Profiling& operator=(const Profiling&) = delete;

  std::unique_ptr<profiler::ProfilerResult> end() {
    is_on_ = false;
    return profiler::disableProfiler();
  }

 private:
  bool is_on_ = true;
};

}  // namespace

std::vector<measure::TraceOperator> operators_of(bool on_gpu, const std::function<void()>& steps) {
  Profiling profiling(on_gpu);
  steps();
  const auto result = profiling.end();
  const std::int64_t ahead = wall_clock_ahead();
  std::vector<measure::TraceOperator> found;
  found.reserve(result->events().size());
  for (const profiler::KinetoEvent& event : result->events()) {
    if (event.isHiddenEvent()) continue;
    found.push_back({.name = name_of(event),
                     .start_ns = static_cast<std::int64_t>(event.startNs()) - ahead,
                     .duration_ns = static_cast<std::int64_t>(event.durationNs()),
                     .row = event.deviceResourceId(),
                     .on_device = event.deviceType() != c10::DeviceType::CPU});
  }
  return found;
}

}  // namespace feedrate::train
