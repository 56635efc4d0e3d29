#include "base/supervised_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <thread>

namespace feedrate {
namespace {

// As much as an ordinary user may have: a process that says a lot should not have to wait until
// somebody looks.
constexpr int kPipeBytes = 1 << 20;

void say_on_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // a terminal that another program has set so
      pollfd ready{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return;
    }
  }
}

}  // namespace

std::vector<char*> exec_arguments(std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return arguments;
}

SupervisedProcess::SupervisedProcess(const std::function<int()>& work, Output output) {
  std::array<int, 2> ends{-1, -1};
  const bool is_captured = output == Output::captured;
  if (!is_captured || pipe2(ends.data(), O_CLOEXEC) == 0) pid_ = fork();
  if (pid_ == 0) {
    if (is_captured) dup2(ends[1], STDOUT_FILENO), dup2(ends[1], STDERR_FILENO);
    try {
      _exit(work());
    } catch (...) {
      _exit(1);
    }
  }
  if (pid_ < 0) {
    start_error_ = errno;
    status_ = W_EXITCODE(127, 0);
  }
  if (!is_captured) return;
  close(ends[1]);
  output_ = ends[0];
  fcntl(output_, F_SETFL, O_NONBLOCK);
  fcntl(output_, F_SETPIPE_SZ, kPipeBytes);  // if not, then it is shorter
}

SupervisedProcess::~SupervisedProcess() {
  constexpr std::chrono::milliseconds kEnough{100};  // for one that the kernel does not hold
  end(Clock::now() + kEnough);
  if (output_ >= 0) close(output_);
}

std::optional<std::string> SupervisedProcess::output(Clock::time_point deadline,
                                                     const std::stop_token& stop) {
  constexpr int kTurnMs = 10;
  std::string text;
  while (read_on([&](std::string_view part) { text += part; })) {
    if (Clock::now() >= deadline || stop.stop_requested()) return std::nullopt;
    pollfd more{.fd = output_, .events = POLLIN, .revents = 0};
    poll(&more, 1, kTurnMs);
  }
  return text;
}

void SupervisedProcess::pass_on() { read_on(say_on_stderr); }

bool SupervisedProcess::read_on(const std::function<void(std::string_view)>& take) {
  std::array<char, 1 << 16> part;
  // One that never stops talking must not hold this thread up.
  for (std::size_t left = 2 * kPipeBytes; left > 0;) {
    const ssize_t got = read(output_, part.data(), std::min(left, part.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 && errno == EAGAIN;
    take({part.data(), static_cast<std::size_t>(got)});
    left -= static_cast<std::size_t>(got);
  }
  return true;
}

std::optional<int> SupervisedProcess::look() {
  while (!status_) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG | WUNTRACED | WCONTINUED) == 0) break;
    if (WIFSTOPPED(status)) {
      stopped_at_ = Clock::now();
    } else if (WIFCONTINUED(status)) {
      stopped_at_.reset();
    } else {
      status_ = status;  // 0 where nobody is told of an end (SIGCHLD is ignored)
    }
  }
  return status_;
}

SupervisedProcess::Clock::duration SupervisedProcess::stopped_for() const {
  return stopped_at_ ? Clock::now() - *stopped_at_ : Clock::duration::zero();
}

int SupervisedProcess::wait() {
  while (!status_) {
    int status = 0;
    if (waitpid(pid_, &status, 0) == pid_ || errno != EINTR) status_ = status;
  }
  return WIFEXITED(*status_) ? WEXITSTATUS(*status_) : 128 + WTERMSIG(*status_);
}

void SupervisedProcess::kill() {
  if (!look()) ::kill(pid_, SIGKILL);
}

void SupervisedProcess::end(Clock::time_point deadline) {
  constexpr std::chrono::milliseconds kTurn{2};
  kill();
  while (!look() && Clock::now() < deadline) std::this_thread::sleep_for(kTurn);
  if (!status_) status_ = SIGKILL;  // which it dies of once the kernel lets it go
}

}  // namespace feedrate
