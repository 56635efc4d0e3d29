#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "device/group.h"
#include "ranks/connection.h"
#include "ranks/patience.h"

namespace feedrate::ranks {

// A rank's end: a Group whose calls go over a connection to the coordinator, and the tasks that it
// gives. A second thread listens and says every second that this process is alive; when the
// coordinator is gone, has said nothing for `silence_ns`, or has said what no coordinator says, the
// process ends itself: a rank without a coordinator would be an orphan.
class SocketGroup : public device::Group {
 public:
  // `local_rank`: among this machine's. `ahead_ns`: how far the coordinator's clock (now_ns()) is
  // ahead of this process's.
  SocketGroup(Connection connection, int rank, int size, std::string host_of_first, int local_rank,
              std::int64_t ahead_ns = 0, std::int64_t silence_ns = kSilenceNs);
  ~SocketGroup() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const override { return local_rank_; }
  std::string host_of_first() const override { return host_of_first_; }
  int listen() const override;
  std::int64_t all_reduce_latest(std::int64_t ns) override;
  std::vector<std::int64_t> all_gather(std::int64_t number) override;
  std::string broadcast(const std::string& text) override;
  void barrier() override;
  void abort() override;

  // The next task; nothing when there is none any more. Waits.
  std::optional<std::string> next_task();
  // Of rank 0 alone. False, and nothing was reported: the coordinator does not read for now (its
  // terminal is held, for example), and who measures does not wait for it.
  bool report(const std::string& progress) {
    return connection_.has_room() && connection_.send(MessageKind::progress, progress);
  }
  // Fails where the result is longer than a message may be.
  void finish(const std::string& result);
  void fail(const std::string& reason);
  // The task in progress has failed, and the thread that carries it out may never return: this
  // process takes no further tasks. Thread-safe.
  void give_up(const std::string& reason);
  // A watch over that thread: another one asks for its trouble four times a second, as long as what
  // this returns lives, and gives up with the first that is not empty.
  std::jthread give_up_when(std::function<std::string()> trouble);
  // Is asked to stop when the task in progress is aborted.
  std::stop_token stop_token();
  // A moment of this process on the coordinator's clock.
  std::int64_t on_common_clock(std::int64_t ns) const { return ns + ahead_ns_; }

 private:
  void answer(MessageKind kind, const std::string& body);
  std::string meet(Call call, std::string_view value);
  void attend();
  // Under mutex_. False: no coordinator says that.
  void stop_task();
  bool hear(Message message);
  void beat();

  Connection connection_;
  const int rank_, size_, local_rank_;
  const std::string host_of_first_;
  const std::int64_t ahead_ns_, silence_ns_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<std::string> met_, task_;
  std::stop_source stop_;  // of the task
  std::string hopeless_;   // the reason given to give_up(); empty: none
  bool aborted_ = false, ended_ = false;
  bool busy_ = false;           // with a task, perhaps in a library's call that never returns
  bool leaving_ = false;        // the destructor runs: the end of the connection is no surprise
  std::int64_t heard_ns_ = 0;   // when the coordinator last sent something
  std::int64_t looked_ns_ = 0;  // when heard_ns_ was last checked
  std::jthread listener_, heart_;
};

}  // namespace feedrate::ranks
