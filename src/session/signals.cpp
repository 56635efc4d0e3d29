#include "session/signals.h"

#include <unistd.h>

#include "measure/clock.h"

namespace feedrate::session {
namespace {

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  struct sigaction hangup{};  // `nohup` has it ignored, and means it
  if (sigaction(SIGHUP, nullptr, &hangup) != 0 || hangup.sa_handler != SIG_IGN)
    sigaddset(&set, SIGHUP);
  return set;
}

void write_all(const char* text, std::size_t size) {
  if (write(STDERR_FILENO, text, size) < 0) return;  // stderr is closed: nothing to do
}

}  // namespace

HeldSignals::HeldSignals() {
  const sigset_t set = watched();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

HeldSignals::~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

SignalWatcher::SignalWatcher() {
  thread_ = std::jthread([this](std::stop_token ended) { watch(ended); });
}

SignalWatcher::~SignalWatcher() {
  thread_.request_stop();
  thread_.join();
}

int SignalWatcher::exit_code(int otherwise) const {
  return signal_ == 0 ? otherwise : 128 + signal_;
}

void SignalWatcher::watch(std::stop_token ended) {
  constexpr std::int64_t kPatience = 4'500'000'000;
  const sigset_t set = watched();
  std::int64_t deadline = 0;
  while (!ended.stop_requested()) {
    const timespec tick{.tv_sec = 0, .tv_nsec = 50'000'000};
    const int got = sigtimedwait(&set, nullptr, &tick);
    if (got > 0 && signal_ == 0) {
      signal_ = got;
      deadline = measure::now_ns() + kPatience;
      static constexpr char kText[] = "\nfeedrate: stopping (once more to stop at once)\n";
      const std::size_t skip = isatty(STDERR_FILENO) ? 0 : 1;  // the live line has no end of line
      write_all(kText + skip, sizeof kText - 1 - skip);
      stop_.request_stop();
    } else if (got > 0 || (deadline > 0 && measure::now_ns() > deadline)) {
      // A record that is being written just now may be torn: --resume cuts it off.
      _exit(128 + signal_);
    }
  }
}

}  // namespace feedrate::session
