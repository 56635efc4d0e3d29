#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "ranks/connection.h"

namespace feedrate::ranks {

// A rank that is lost, and why.
struct LostRank {
  int rank = 0;
  std::string reason;  // "was killed (SIGKILL)"
};

// A rank as its coordinator sees it.
struct RankLink {
  std::unique_ptr<Connection> connection;
  std::string name;  // "rank 1 (pid 4711)", "rank 9 on node2 (pid 4711)"
};

// What ranks send. One that throws says that no rank sends that: the rank is then lost.
struct TaskHooks {
  std::function<void(const std::string&)> progress = {};  // of rank 0
  // Once for each rank, when the task has ended for all; also where another rank was lost.
  std::function<void(int rank, const std::string&)> result = {};
};

// Gives tasks to ranks that are processes, and carries their collective calls. When one rank dies,
// stops, fails, or sends what no rank sends, the coordinator ends the task for all ranks. Used by
// one thread; a second thread sends a sign of life every second.
class Coordinator {
 public:
  // `links`: by rank. `watch`: asks the operating system for a rank that is lost; may be empty.
  // `grace_ns`: time that ranks have to end a task that another one has ended; then they are lost.
  Coordinator(std::vector<RankLink> links, std::function<std::optional<LostRank>()> watch,
              std::int64_t grace_ns);
  ~Coordinator();

  int size() const { return static_cast<int>(ranks_.size()); }

  // Has all ranks carry out `task`. False if `stop` came first. Errors: Error naming the first rank
  // that failed or was lost, and why; with a single rank, its own message. The hooks may have been
  // called all the same. After a loss, every run fails.
  bool run(const std::string& task, const TaskHooks& hooks, std::stop_token stop);

  // No more tasks: the ranks end.
  void end();

 private:
  enum class State { idle, working, answered, lost };
  struct Rank {
    RankLink link;
    State state = State::idle;
    std::int64_t heard_ns = 0;
    std::int64_t part_ns = 0;          // since when a part of a message waits for its rest; 0: none
    std::optional<std::string> meets;  // the call that it waits in
    std::int64_t met_ns = 0;           // the moment at which it began to wait in that call
    std::int64_t told = 0;             // messages that it may send at any time
    std::string result;
    bool has_result = false, has_more = false;  // more: messages that wait to be read
  };

  void serve(const TaskHooks& hooks);
  void hear(std::size_t rank, const TaskHooks& hooks);
  void handle(std::size_t rank, Message message, const TaskHooks& hooks);
  void handle_result(std::size_t rank, std::string body);
  void hand_over_results(const TaskHooks& hooks);
  void handle_meeting(std::size_t rank, std::string body);
  void count(std::size_t rank);
  void look_for_losses();
  void lose(std::size_t rank, const std::string& reason);
  void drop_misbehaving_rank(std::size_t rank, const std::string& what);
  void fail(std::size_t rank, const std::string& reason);
  void abort_all();
  void give_up();
  void throw_trouble() const;
  void go_on_if_all_are_there();
  bool all_are_at_the_same_point();
  bool all_moments_are_plausible();
  void answer_call(const std::string& value);
  bool all_done() const;

  std::vector<Rank> ranks_;
  const std::function<std::optional<LostRank>()> watch_;
  const std::int64_t grace_ns_;
  const std::int64_t began_ns_;
  std::int64_t looked_ns_ = 0;
  std::int64_t latest_ns_ = 0;  // answer to the last Call::latest of the task; 0: none yet
  bool aborted_ = false;        // the task in progress
  std::int64_t aborted_ns_ = 0;
  struct Trouble {
    std::string who, why;  // empty: there is none
  };
  Trouble failure_;    // the first that a rank told of
  Trouble loss_;       // of the first rank that was lost
  bool late_ = false;  // loss_ says only that a rank did not end in time, a consequence
  std::jthread heart_;
};

}  // namespace feedrate::ranks
