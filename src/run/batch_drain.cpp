#include "run/batch_drain.h"

#include <algorithm>

namespace feedrate::run {

BatchDrain::BatchDrain(pipeline::Loader& loader)
    : loader_(loader), thread_([this](const std::stop_token& stop) { run(stop); }) {}

BatchDrain::~BatchDrain() {
  thread_.request_stop();
  loader_.stop();
}

void BatchDrain::allow_one() {
  {
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    allowed_ = std::min(allowed_ + 1, kMostAllowed);
  }
  changed_.notify_one();
}

void BatchDrain::run(const std::stop_token& stop) {
  try {
    while (wait_until_allowed(stop) && loader_.next()) {
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    error_ = std::current_exception();
  }
}

bool BatchDrain::wait_until_allowed(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait(lock, stop, [this] { return allowed_ > 0; })) return false;
  --allowed_;
  return !stop.stop_requested();
}

}  // namespace feedrate::run
