#include "ranks/error_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string>

#include "base/error.h"

namespace feedrate::ranks {
namespace {

// As much as an ordinary user may have: a process that says a lot should not have to wait until
// somebody looks.
constexpr int kPipeBytes = 1 << 20;

void say(std::span<const char> text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written >= 0) {
      text = text.subspan(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // a terminal that another program has set so
      pollfd ready{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return;
    }
  }
}

}  // namespace

ErrorPipe::ErrorPipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw Error("ranks", std::string("cannot be listened to: ") + std::strerror(errno),
                "raise `ulimit -n`");
  }
  exit_ = ends[0], entrance_ = ends[1];
  fcntl(exit_, F_SETFL, O_NONBLOCK);
  fcntl(entrance_, F_SETPIPE_SZ, kPipeBytes);  // if not, then it is shorter
}

ErrorPipe::~ErrorPipe() {
  close(entrance_);
  close(exit_);
}

void ErrorPipe::pass_on() {
  std::array<char, 1 << 16> text;
  // One that never stops talking must not hold this thread up.
  for (std::size_t left = 2 * kPipeBytes; left > 0;) {
    const ssize_t got = read(exit_, text.data(), std::min(left, text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    say(std::span(text).first(static_cast<std::size_t>(got)));
    left -= static_cast<std::size_t>(got);
  }
}

}  // namespace feedrate::ranks
