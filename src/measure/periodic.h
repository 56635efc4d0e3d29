#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace feedrate::measure {

// Calls `body` at once and then `period_ns` after each return, on a thread of its own, until that
// thread is asked to stop.
template <typename Body>
std::jthread every(std::int64_t period_ns, Body body) {
  return std::jthread([period_ns, body = std::move(body)](std::stop_token ended) mutable {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    while (!ended.stop_requested()) {
      body();
      never.wait_for(lock, ended, std::chrono::nanoseconds(period_ns), [] { return false; });
    }
  });
}

}  // namespace feedrate::measure
