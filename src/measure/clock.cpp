#include "measure/clock.h"

#include <sys/prctl.h>

#include <cerrno>

namespace feedrate::measure {

void sleep_until_ns(std::int64_t deadline) {
  const timespec t{.tv_sec = deadline / 1'000'000'000LL, .tv_nsec = deadline % 1'000'000'000LL};
  while (deadline > now_ns() &&
         clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) == EINTR) {
  }
}

void use_precise_sleeps() { prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }

}  // namespace feedrate::measure
