#include "ranks/thread_groups.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "base/error.h"
#include "ranks/tcp.h"

namespace feedrate::ranks {
namespace {

// A barrier that reduces: the last rank to arrive publishes the result and opens the next round.
class ReducingBarrier {
 public:
  explicit ReducingBarrier(int size) : size_(size) {}

  // `add(pending, first)`: adds this rank's value to those that are pending; `first`: it is the
  // first to arrive.
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
    return meet(pending, published,
                [&](T& all, bool first) { all = first ? value : std::max(all, value); });
  }
  void abort() {
    {
      const std::lock_guard lock(mutex_);
      aborted_ = true;
    }
    opened_.notify_all();
  }
  int size() const { return size_; }

  std::int64_t pending_ns = 0, published_ns = 0;
  std::string pending_text, published_text;
  std::vector<std::int64_t> pending_numbers, published_numbers;

 private:
  const int size_;
  std::mutex mutex_;
  std::condition_variable opened_;
  int arrived_ = 0;
  std::uint64_t round_ = 0;
  bool aborted_ = false;
};

class ThreadGroup : public device::Group {
 public:
  ThreadGroup(int rank, std::shared_ptr<ReducingBarrier> barrier)
      : rank_(rank), barrier_(std::move(barrier)) {}
  int rank() const override { return rank_; }
  int size() const override { return barrier_->size(); }
  std::int64_t all_reduce_latest(std::int64_t ns) override {
    return barrier_->max(ns, barrier_->pending_ns, barrier_->published_ns);
  }
  std::vector<std::int64_t> all_gather(std::int64_t number) override {
    return barrier_->meet(barrier_->pending_numbers, barrier_->published_numbers,
                          [&](std::vector<std::int64_t>& pending, bool) {
                            pending.resize(static_cast<std::size_t>(size()));
                            pending[static_cast<std::size_t>(rank_)] = number;
                          });
  }
  std::string broadcast(const std::string& text) override {
    return barrier_->meet(barrier_->pending_text, barrier_->published_text,
                          [&](std::string& pending, bool) {
                            if (rank_ == 0) pending = text;
                          });
  }
  std::string host_of_first() const override { return device::kLoopback; }
  int listen() const override { return listen_at(device::kLoopback, 0).descriptor; }
  void barrier() override { all_reduce_latest(0); }
  void abort() override { barrier_->abort(); }

 private:
  int rank_;
  std::shared_ptr<ReducingBarrier> barrier_;
};

}  // namespace

std::vector<std::unique_ptr<device::Group>> make_thread_groups(int size) {
  const auto barrier = std::make_shared<ReducingBarrier>(size);
  std::vector<std::unique_ptr<device::Group>> groups;
  for (int rank = 0; rank < size; ++rank)
    groups.push_back(std::make_unique<ThreadGroup>(rank, barrier));
  return groups;
}

}  // namespace feedrate::ranks
