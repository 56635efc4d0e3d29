#pragma once
#include <ctime>

#include <cstdint>

namespace feedrate::measure {

// Nanoseconds of a clock of the kernel. Thread-safe.
inline std::int64_t clock_ns(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

// What steady_clock reads; never the wall clock.
inline std::int64_t now_ns() { return clock_ns(CLOCK_MONOTONIC); }

// CPU time that the calling thread has used, and that all threads of the process have.
inline std::int64_t thread_cpu_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }
inline std::int64_t process_cpu_ns() { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

// Sleeps until now_ns() has reached `deadline`; returns at once when it has passed. Absolute, so
// that errors of one sleep do not add up over many.
void sleep_until_ns(std::int64_t deadline);

// Asks the kernel not to round the calling thread's sleeps up (it does so by 50 us by default).
void use_precise_sleeps();

inline double ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }
inline double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace feedrate::measure
