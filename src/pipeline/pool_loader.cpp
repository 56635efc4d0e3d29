#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "pipeline/bounded_queue.h"
#include "pipeline/loader.h"
#include "pipeline/worker.h"

namespace feedrate::pipeline {
namespace {

// A worker may be busy with a slow sample of an earlier batch while the others go on. Samples whose
// files are on their way may belong to later batches.
int batches_in_work(const LoaderSize& size) {
  const int on_their_way = size.workers * (size.depth - 1);
  return 1 + std::min(size.workers, 4) + (on_their_way + size.batch_size - 1) / size.batch_size;
}

// A batch whose samples are being made by several workers.
struct Filling {
  BatchLease batch;
  std::atomic<int> missing;
  int claimed = 0;  // guarded by PoolLoader::mutex_
};

class PoolLoader : public Loader {
 public:
  explicit PoolLoader(LoaderOptions options)
      : options_(std::move(options)),
        ready_(static_cast<std::size_t>(options_.prefetch)),
        ring_(SlabRing::make(options_.recipe.spec, options_.prefetch + in_work() + kInDevice,
                             options_.slabs)) {
    options_.gate = &gate_;
    for (int w = 0; w < options_.workers; ++w)
      workers_.push_back(std::make_unique<Worker>(options_));
    try {
      for (int w = 0; w < options_.workers; ++w) threads_.emplace_back([this, w] { run(w); });
    } catch (...) {  // a thread could not start: those that run must not wait for ever
      stop();
      throw;
    }
  }
  ~PoolLoader() override { stop(); }

  BatchLease next() override {
    if (!options_.in_order) return next_ready();
    // Batches that were whole before their turn. They are few: each holds one of the ring's slabs,
    // and the one that is waited for has its slab already.
    while (!early_.contains(delivered_)) {
      BatchLease batch = next_ready();
      if (!batch) return nullptr;
      const std::int64_t sequence = batch->sequence;
      early_.emplace(sequence, std::move(batch));
    }
    return std::move(early_.extract(delivered_++).mapped());
  }

  void stop() override {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    ready_.close();
    ring_->close();
    gate_.remove();
  }
  void pause() override { gate_.shut(); }
  void resume() override { gate_.open(); }
  bool is_quiet() const override { return gate_.is_quiet(); }

  std::int64_t samples_ahead_limit() const override {
    return static_cast<std::int64_t>(options_.prefetch + in_work()) *
           options_.recipe.spec.batch_size;
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
  static constexpr int kInDevice =
      2;  // batches that the device holds: one in use, one being copied

  int in_work() const {
    return batches_in_work({.prefetch = options_.prefetch,
                            .workers = options_.workers,
                            .depth = options_.recipe.io.depth,
                            .batch_size = options_.recipe.spec.batch_size});
  }

  BatchLease next_ready() {
    std::optional<BatchLease> batch = ready_.get();
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    return batch ? std::move(*batch) : nullptr;
  }

  void run(int w) {
    Worker& worker = *workers_[static_cast<std::size_t>(w)];
    // By place: which batch the sample is for. It has to stay until its bytes are there.
    std::vector<std::shared_ptr<Filling>> asked(static_cast<std::size_t>(worker.depth()));
    try {
      Worker::enter_thread(options_, w);
      while (ask(worker, asked)) {
        const std::shared_ptr<Filling> filling =
            std::move(asked[static_cast<std::size_t>(worker.finish_one())]);
        if (filling->missing.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
        worker.tell_ready(*filling->batch);
        if (!ready_.put(std::move(filling->batch))) break;
      }
    } catch (...) {
      {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
      }
      stop();
    }
    worker.let_go();
  }

  // Asks for as many samples as the worker takes and are to be had; for one at least, for which it
  // waits. False once stopped.
  bool ask(Worker& worker, std::vector<std::shared_ptr<Filling>>& asked) {
    while (!worker.is_full()) {
      int slot = 0;
      const bool wait = worker.is_idle();
      std::shared_ptr<Filling> filling = claim(slot, wait);
      if (!filling) return !wait;
      const int place = worker.ask(*filling->batch, slot);
      asked[static_cast<std::size_t>(place)] = std::move(filling);
    }
    return true;
  }

  // The next sample that no worker has claimed. Null once stopped, or if it would have to be waited
  // for and `wait` is false.
  std::shared_ptr<Filling> claim(int& slot, bool wait) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (stopped_) return nullptr;
      if (filling_ && filling_->claimed < options_.recipe.spec.batch_size) {
        slot = filling_->claimed++;
        return filling_;
      }
      if (!opening_ && !is_over()) {
        if (!open_batch(lock, wait)) return nullptr;
      } else if (wait) {
        changed_.wait(lock);
      } else {
        return nullptr;
      }
    }
  }

  // With the lock held.
  bool is_over() const { return options_.batches > 0 && sequence_ == options_.batches; }

  // Waits for a slab without holding the lock: one worker opens the next batch, the others wait for
  // it. False: there is none now.
  bool open_batch(std::unique_lock<std::mutex>& lock, bool wait) {
    opening_ = true;
    lock.unlock();
    BatchLease batch = wait ? ring_->acquire() : ring_->try_acquire();
    lock.lock();
    opening_ = false;
    if (batch) {
      batch->sequence = sequence_++;
      filling_ = std::make_shared<Filling>();
      filling_->missing = options_.recipe.spec.batch_size;
      filling_->batch = std::move(batch);
    } else if (wait) {
      stopped_ = true;
    }
    changed_.notify_all();
    return filling_ != nullptr && filling_->claimed < options_.recipe.spec.batch_size;
  }

  LoaderOptions options_;
  Gate gate_;
  BoundedQueue<BatchLease> ready_;
  std::shared_ptr<SlabRing> ring_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Filling> filling_;
  std::int64_t sequence_ = 0;
  std::map<std::int64_t, BatchLease> early_;  // the consumer's: whole, but not yet their turn
  std::int64_t delivered_ = 0;                // the consumer's
  bool opening_ = false;
  bool stopped_ = false;
  std::exception_ptr error_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::jthread> threads_;  // last: joined before anything that they use is destroyed
};

}  // namespace

// Those that are ready, and one with each worker that waits for room, as far as there are slabs.
int pool_batches_ahead(const LoaderSize& size) {
  return size.prefetch + std::min(size.workers, batches_in_work(size));
}

std::unique_ptr<Loader> make_pool_loader(LoaderOptions options) {
  return std::make_unique<PoolLoader>(std::move(options));
}

}  // namespace feedrate::pipeline
