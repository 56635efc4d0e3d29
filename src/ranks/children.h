#pragma once
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/supervised_process.h"
#include "ranks/coordinator.h"

namespace feedrate::ranks {

// Ranks on this machine: copies of this program, each with one end of a stream as its descriptor
// kRankDescriptor. They ignore SIGINT, SIGTERM and SIGHUP, as their parent ends them. The kernel
// kills them when the thread that started them is gone. What they say, on stdout too, comes out at
// this process's stderr, at each look() and in end(). Used by one thread.
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
    explicit Child(const std::function<int()>& work)
        : process(work, SupervisedProcess::Output::captured) {}
    SupervisedProcess process;
    std::string told;  // the last reason that look() gave
  };
  void pass_on();

  std::deque<Child> children_;  // by rank
};

}  // namespace feedrate::ranks
