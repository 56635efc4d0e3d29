#include "device/group.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "measure/error.h"

namespace feedrate {
namespace {

// A barrier that reduces: the last rank to arrive publishes the result and opens the next round.
class Meeting {
 public:
  explicit Meeting(int size) : size_(size) {}

  // `add(pending, first)`: adds this rank's value to those that are pending; `first`: it is the first to arrive.
  template <typename T, typename Add>
  T meet(T& pending, T& published, const Add& add) {
    std::unique_lock lock(mutex_);
    if (aborted_) throw Error("ranks", "interrupted");
    add(pending, arrived_ == 0);
    if (++arrived_ == size_) {
      arrived_ = 0;
      ++round_;
      published = pending;
      opened_.notify_all();
      return published;
    }
    const std::uint64_t round = round_;
    opened_.wait(lock, [&] { return aborted_ || round_ != round; });
    if (round_ == round) throw Error("ranks", "interrupted");
    return published;
  }
  template <typename T>
  T max(T value, T& pending, T& published) {
    return meet(pending, published, [&](T& all, bool first) { all = first ? value : std::max(all, value); });
  }
  void abort() {
    {
      const std::lock_guard lock(mutex_);
      aborted_ = true;
    }
    opened_.notify_all();
  }
  int size() const { return size_; }

  double pending_real = 0, published_real = 0;
  std::int64_t pending_whole = 0, published_whole = 0;
  std::string pending_text, published_text;

 private:
  const int size_;
  std::mutex mutex_;
  std::condition_variable opened_;
  int arrived_ = 0;
  std::uint64_t round_ = 0;
  bool aborted_ = false;
};

class ThreadGroup : public Group {
 public:
  ThreadGroup(int rank, std::shared_ptr<Meeting> meeting) : rank_(rank), meeting_(std::move(meeting)) {}
  int rank() const override { return rank_; }
  int size() const override { return meeting_->size(); }
  double all_reduce_max(double value) override {
    return meeting_->max(value, meeting_->pending_real, meeting_->published_real);
  }
  std::int64_t all_reduce_max(std::int64_t value) override {
    return meeting_->max(value, meeting_->pending_whole, meeting_->published_whole);
  }
  std::int64_t all_reduce_latest(std::int64_t ns) override { return all_reduce_max(ns); }
  std::string broadcast(const std::string& text) override {
    return meeting_->meet(meeting_->pending_text, meeting_->published_text, [&](std::string& pending, bool) {
      if (rank_ == 0) pending = text;
    });
  }
  std::string host_of_first() const override { return kLoopback; }
  void barrier() override { all_reduce_max(std::int64_t{0}); }
  void abort() override { meeting_->abort(); }

 private:
  int rank_;
  std::shared_ptr<Meeting> meeting_;
};

}  // namespace

std::vector<std::unique_ptr<Group>> make_thread_groups(int size) {
  const auto meeting = std::make_shared<Meeting>(size);
  std::vector<std::unique_ptr<Group>> groups;
  for (int rank = 0; rank < size; ++rank) groups.push_back(std::make_unique<ThreadGroup>(rank, meeting));
  return groups;
}

}  // namespace feedrate
