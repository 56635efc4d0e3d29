#include "measure/cpu_wait.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

namespace feedrate::measure {

CpuWait::CpuWait() : file_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}
CpuWait::~CpuWait() {
  if (file_ >= 0) close(file_);
}

// "2046915 3012497 17": ran, waited, how often.
std::int64_t CpuWait::ns() const {
  char text[96];
  const ssize_t length = file_ < 0 ? -1 : pread(file_, text, sizeof text - 1, 0);
  if (length <= 0) return 0;
  text[length] = '\0';
  char* end = nullptr;
  std::strtoll(text, &end, 10);
  return std::strtoll(end, nullptr, 10);
}

}  // namespace feedrate::measure
