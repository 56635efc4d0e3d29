#include "session/signs_of_life.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "measure/clock.h"

namespace feedrate::session {
namespace {

// Nobody has looked for so long: the process was stopped itself (Ctrl-Z), or got no CPU.
constexpr std::int64_t kAwayNs = 2'000'000'000;

// The seventh number of a device's `stat`: sectors written; -1: it cannot be read.
std::int64_t sectors_written(const measure::BlockDevice& device) {
  std::ifstream stat(device.stat);
  std::int64_t number = -1;
  for (int i = 0; i < 7; ++i) stat >> number;
  return stat ? number : -1;
}

}  // namespace

SignsOfLife::SignsOfLife(std::string folder)
    : folder_(std::move(folder)),
      alive_ns_(measure::now_ns()),
      looked_ns_(alive_ns_),
      cpu_ns_(measure::process_cpu_ns()) {}

void SignsOfLife::alive() {
  const std::lock_guard lock(mutex_);
  alive_ns_ = measure::now_ns();
  for_disk_ = false;
}

void SignsOfLife::wait_for(const std::string& path) {
  alive();
  const std::lock_guard lock(mutex_);
  waits_[std::this_thread::get_id()] = {path, alive_ns_};
}

void SignsOfLife::go_on() {
  alive();
  const std::lock_guard lock(mutex_);
  waits_.erase(std::this_thread::get_id());
}

void SignsOfLife::wait_for_disk(const std::string& folder) {
  wait_for(folder);
  auto disks = measure::block_devices_under(folder);  // looks at the folder, so it may hang as well
  const std::lock_guard lock(mutex_);
  alive_ns_ = measure::now_ns();
  for_disk_ = true;
  disks_ = std::move(disks);
  written_.clear();
}

SignsOfLife::Silence SignsOfLife::silence() {
  const std::lock_guard lock(mutex_);
  const std::int64_t now = measure::now_ns();
  const bool away = now - looked_ns_ > kAwayNs;
  const bool busy = computes(now);
  if (away || busy || (for_disk_ && writes())) alive_ns_ = now;
  const auto last =
      std::ranges::max_element(waits_, {}, [](const auto& wait) { return wait.second.since_ns; });
  return {.path = last == waits_.end() ? folder_ : last->second.path,
          .seconds = measure::seconds(now - alive_ns_)};
}

// The threads that only look and tell that they are alive use a thousandth of a CPU.
bool SignsOfLife::computes(std::int64_t now) {
  constexpr std::int64_t kShare = 50;
  const std::int64_t cpu_ns = measure::process_cpu_ns();
  const std::int64_t used = cpu_ns - std::exchange(cpu_ns_, cpu_ns);
  return used * kShare > now - std::exchange(looked_ns_, now);
}

bool SignsOfLife::writes() {
  std::vector<std::int64_t> written;
  for (const measure::BlockDevice& disk : disks_) written.push_back(sectors_written(disk));
  const bool has_written = written != std::exchange(written_, written);
  return has_written || std::ranges::count(written, -1) == std::ssize(written);
}

}  // namespace feedrate::session
