#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "pipeline/loader.h"
#include "pipeline/worker.h"

namespace feedrate::pipeline {
namespace {

// PyTorch's DataLoader with num_workers = W and prefetch_factor = P: batch i belongs to worker i %
// W, at most W * P batches are asked for and not yet consumed, a new one is asked for only when one
// is consumed, and batches are delivered in order, so that a slow one holds up those behind it.
class BatchLoader : public Loader {
 public:
  explicit BatchLoader(LoaderOptions options)
      : options_(std::move(options)),
        outstanding_(options_.workers * options_.prefetch),
        ring_(SlabRing::make(options_.recipe.spec, outstanding_ + 3, options_.slabs)),
        tasks_(static_cast<std::size_t>(options_.workers)) {
    options_.gate = &gate_;
    for (int i = 0; i < outstanding_; ++i) ask();
    for (int w = 0; w < options_.workers; ++w)
      workers_.push_back(std::make_unique<Worker>(options_));
    try {
      for (std::size_t w = 0; w < workers_.size(); ++w)
        threads_.emplace_back([this, w] { run(w); });
    } catch (...) {  // a thread could not start: those that run must not wait for ever
      stop();
      throw;
    }
  }
  ~BatchLoader() override { stop(); }

  BatchLease next() override {
    BatchLease batch;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopped_ || done_.contains(consumed_); });
      if (error_) std::rethrow_exception(error_);
      if (stopped_) return nullptr;
      auto node = done_.extract(consumed_++);
      batch = std::move(node.mapped());
      ask();
    }
    changed_.notify_all();
    return batch;
  }

  void stop() override {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    ring_->close();
    gate_.remove();
  }
  void pause() override { gate_.shut(); }
  void resume() override { gate_.open(); }
  bool is_quiet() const override { return gate_.is_quiet(); }

  std::int64_t samples_ahead_limit() const override {
    return static_cast<std::int64_t>(outstanding_) * options_.recipe.spec.batch_size;
  }
  measure::StageTotals stages() const override {
    measure::StageTotals totals;
    for (const auto& worker : workers_) totals += worker->stages();
    return totals;
  }
  void add_latencies(storage::ReadLatencies& to) const override {
    for (const auto& worker : workers_) worker->add_latencies(to);
  }

 private:
  // Queues the next batch with the worker whose turn it is. Called with the lock held.
  void ask() {
    if (options_.batches > 0 && asked_ == options_.batches) return;
    tasks_[static_cast<std::size_t>(asked_ % options_.workers)].push_back(asked_);
    ++asked_;
  }

  void run(std::size_t w) {
    try {
      Worker::enter_thread(options_, static_cast<int>(w));
      for (;;) {
        BatchLease batch = take(tasks_[w]);
        if (!batch) return;
        workers_[w]->fill_all(*batch);
        workers_[w]->tell_ready(*batch);
        deliver(std::move(batch));
      }
    } catch (...) {
      {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
      }
      stop();
    }
  }

  BatchLease take(std::deque<std::int64_t>& tasks) {
    std::int64_t sequence = 0;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopped_ || !tasks.empty(); });
      if (stopped_) return nullptr;
      sequence = tasks.front();
      tasks.pop_front();
    }
    BatchLease batch = ring_->acquire();
    if (batch) batch->sequence = sequence;
    return batch;
  }

  void deliver(BatchLease batch) {
    {
      const std::lock_guard lock(mutex_);
      const std::int64_t sequence = batch->sequence;
      done_.emplace(sequence, std::move(batch));
    }
    changed_.notify_all();
  }

  LoaderOptions options_;
  Gate gate_;
  const int outstanding_;
  std::shared_ptr<SlabRing> ring_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::deque<std::int64_t>> tasks_;  // by worker
  std::map<std::int64_t, BatchLease> done_;      // finished, by sequence
  std::int64_t asked_ = 0;
  std::int64_t consumed_ = 0;
  bool stopped_ = false;
  std::exception_ptr error_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::jthread> threads_;  // last: joined before anything that they use is destroyed
};

}  // namespace

std::unique_ptr<Loader> make_batch_loader(LoaderOptions options) {
  return std::make_unique<BatchLoader>(std::move(options));
}

}  // namespace feedrate::pipeline
