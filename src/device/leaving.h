#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"

namespace feedrate::device {

// A rank that leaves while its steps wait for others: the exchange that they wait in is abandoned
// from a thread of its own, so that nobody waits for the step. A step may stand in a call of the
// driver, whose queue is full of what waits: no lock is held meanwhile. But while a step is
// captured its work is not running, and the capture holds the exchange: it is let through first.
class Leaving {
 public:
  // `name`: of the device, for errors.
  explicit Leaving(std::string name) : name_(std::move(name)) {}

  // In the thread that steps. Throws an Error once the rank has left.
  void check() const {
    if (has_left_) throw Error(name_, "was left");
  }
  // Calls `part`, which captures a step. The same errors.
  template <typename Part>
  void capture(const Part& part) {
    const std::lock_guard none_abandons(capturing_);
    check();
    part();
  }

  // Calls abandon() in a thread of its own, once; any thread may call it. It returns at once.
  void leave(std::function<void()> abandon) noexcept {
    if (has_left_.exchange(true)) return;
    try {
      abandons_ = std::jthread([this, abandon = std::move(abandon)] {
        const std::lock_guard none_captures(capturing_);
        abandon();
      });
    } catch (const std::system_error&) {  // whoever started this process ends it
    }
  }
  bool has_left() const { return has_left_; }

 private:
  const std::string name_;
  std::atomic<bool> has_left_ = false;
  std::mutex capturing_;
  std::jthread abandons_;  // ends before what it uses
};

}  // namespace feedrate::device
