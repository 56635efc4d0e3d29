#include "measure/delays.h"

#include "measure/clock.h"

namespace feedrate::measure {

void ExactSleep::sleep(std::int64_t ns) {
  if (ns == 0) return;
  const std::int64_t deadline = now_ns() + ns - owed_ns_;
  sleep_until_ns(deadline);
  owed_ns_ = now_ns() - deadline;
}

void burn(std::int64_t ns) {
  if (ns == 0) return;
  const std::int64_t until = thread_cpu_ns() + ns;
  while (thread_cpu_ns() < until) {
  }
}

}  // namespace feedrate::measure
