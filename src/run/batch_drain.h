#pragma once
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>

#include "pipeline/loader.h"

namespace feedrate::run {

// Takes batches from a loader in a thread of its own and drops them: one for each step at most, as
// if the steps trained on them. No step waits for one.
class BatchDrain {
 public:
  // It is the loader's only consumer, and is gone before the loader.
  explicit BatchDrain(pipeline::Loader& loader);
  // Stops the loader, which may be what its thread waits for.
  ~BatchDrain();
  BatchDrain(const BatchDrain&) = delete;
  BatchDrain& operator=(const BatchDrain&) = delete;

  // A step was made: one more batch may be taken. Rethrows what the loader has thrown.
  void allow_one();

 private:
  // Loaders that fall behind do not make up for it: they would work harder than the steps ask.
  static constexpr int kMostAllowed = 4;

  void run(const std::stop_token& stop);
  bool wait_until_allowed(const std::stop_token& stop);  // false: stopped

  pipeline::Loader& loader_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  int allowed_ = 0;           // batches that may be taken
  std::exception_ptr error_;  // the loader's
  std::jthread thread_;       // last: joined before anything that it uses is destroyed
};

}  // namespace feedrate::run
