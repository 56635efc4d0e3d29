#pragma once
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace feedrate {

// Calls work(i) for every i below `count`. `threads` threads, the calling one among them, take the
// next i until none is left. make_work() gives each thread its own `work`. The first exception ends
// all threads and is rethrown. Each thread calls `stop` (thread-safe) before each i; once that is
// true, all threads end soon and the function returns false.
template <typename MakeWork, typename Stop>
bool in_parallel(std::size_t count, int threads, const MakeWork& make_work, const Stop& stop) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stopped{false};
  std::mutex mutex;
  std::exception_ptr error;
  const auto run = [&] {
    try {
      auto work = make_work();
      for (;;) {
        if (stopped || stop()) {
          stopped = true;
          return;
        }
        const std::size_t i = next.fetch_add(1);
        if (i >= count) return;
        work(i);
      }
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (int t = 1; t < threads; ++t) helpers.emplace_back(run);
    run();
  }
  if (error) std::rethrow_exception(error);
  return !stopped;
}

}  // namespace feedrate
