#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "measure/block_devices.h"

namespace feedrate::session {

// What the threads of a command that reads or writes storage wait for, and whether anything still
// happens. Where one of several threads hangs, that shows once the others have nothing left to do.
// Thread-safe.
class SignsOfLife {
 public:
  // `folder`: what is named where no thread has said what it waits for.
  explicit SignsOfLife(std::string folder);

  // Something was done.
  void alive();
  // The same; this thread waits next for `path`, or for nothing.
  void wait_for(const std::string& path);
  void go_on();
  // This thread waits next until what was written to `folder` is on its disk, for as long as that
  // writes. Until something else is done: where the disk does not count what it writes (a network
  // file system), nobody can tell whether it does.
  void wait_for_disk(const std::string& folder);

  // Since when there has been no sign, and what was begun last of all that has not come: a thread
  // that has ended may have left what it waited for before. That the process computes is a sign,
  // too: a large picture may take long to encode. To be asked several times a second, by one
  // thread.
  struct Silence {
    std::string path;
    double seconds = 0;
  };
  Silence silence();

 private:
  struct Wait {
    std::string path;
    std::int64_t since_ns = 0;
  };
  // Both under mutex_.
  bool computes(std::int64_t now);
  bool writes();

  const std::string folder_;
  std::mutex mutex_;
  std::int64_t alive_ns_;
  std::map<std::thread::id, Wait> waits_;
  std::int64_t looked_ns_, cpu_ns_;  // at the last silence()
  bool for_disk_ = false;            // wait_for_disk() was the last sign
  std::vector<measure::BlockDevice> disks_;
  std::vector<std::int64_t> written_;  // what they had counted
};

}  // namespace feedrate::session
