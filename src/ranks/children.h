#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "ranks/coordinator.h"
#include "ranks/error_pipe.h"

namespace feedrate::ranks {

// Ranks on this machine: copies of this program, each with one end of a stream as its descriptor
// kRankDescriptor. They ignore SIGINT, SIGTERM and SIGHUP, as their parent ends them. The kernel
// kills them when the thread that started them is gone. What they say, on stdout too, comes out at
// this process's stderr (ErrorPipe), at each look() and in end(). Used by one thread.
class Children {
 public:
  static constexpr int kRankDescriptor = 3;

  Children() = default;
  ~Children();  // kills what still runs
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  // Starts the next rank, which may use `cpus` (empty: all). `arguments`: after the program's name.
  // Errors: Error.
  RankLink start(const std::vector<std::string>& arguments, const std::vector<int>& cpus);

  // A rank that has been killed, has ended with an error, or has been stopped for kStoppedNs. Each
  // is reported once. To be called often while they run: a rank waits where the pipe is full.
  std::optional<LostRank> look();

  // Waits for them to end, for `patience_ns` at most, then kills them.
  void end(std::int64_t patience_ns);

 private:
  struct Child {
    pid_t pid = -1;
    int rank = 0;
    std::int64_t stopped_ns = 0;  // since when; 0: it runs
    bool gone = false, told = false;
  };
  void reap(Child& child, std::optional<LostRank>& lost);
  void pass_on();

  std::optional<ErrorPipe> said_;  // once there is a child
  std::vector<Child> children_;
};

}  // namespace feedrate::ranks
