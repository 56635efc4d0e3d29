// For LD_PRELOAD: a file server that has gone away. Opening FILE does not return where FILE.stalled
// is there.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <string>

extern "C" int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if (flags & (O_CREAT | O_TMPFILE)) {
    va_list more;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    va_end(more);
  }
  while (access((std::string(path) + ".stalled").c_str(), F_OK) == 0) sleep(1);
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
