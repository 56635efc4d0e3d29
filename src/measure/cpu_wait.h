#pragma once
#include <cstdint>

namespace feedrate::measure {

// How long the thread that made it has stood ready to run and had no CPU, as Linux counts it
// (/proc/thread-self/schedstat, the second number). To be used by that thread alone.
class CpuWait {
 public:
  CpuWait();
  ~CpuWait();
  CpuWait(const CpuWait&) = delete;
  CpuWait& operator=(const CpuWait&) = delete;

  // In nanoseconds, since the thread began; 0 where it cannot be read. A system call.
  std::int64_t ns() const;

 private:
  int file_ = -1;
};

}  // namespace feedrate::measure
