#pragma once
#include <signal.h>

#include <atomic>
#include <stop_token>
#include <thread>

namespace feedrate::session {

// While it lives, the signals that a SignalWatcher waits for stay pending where none does: one that
// comes between two of them is seen by the second. For the main thread, before others start.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;
};

// Turns SIGINT, SIGTERM and SIGHUP (a terminal that is gone) into a stop token, without handlers or
// global state: the signals are blocked for every thread that starts after this object, and one
// thread waits for them. A second signal, or 4.5 s without the program having ended after the
// first, ends it at once with 128 + signal.
class SignalWatcher {
 public:
  SignalWatcher();
  ~SignalWatcher();
  std::stop_token token() const { return stop_.get_token(); }
  // 128 + signal if one came, else `otherwise`.
  int exit_code(int otherwise) const;

 private:
  void watch(std::stop_token ended);
  const HeldSignals held_;
  std::stop_source stop_;
  std::atomic<int> signal_{0};
  std::jthread thread_;
};

}  // namespace feedrate::session
