#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "measure/delays.h"
#include "storage/dataset.h"
#include "storage/outstanding_reads.h"
#include "storage/storage.h"

namespace feedrate::pipeline {

// Gives the storage more to do than the workers ask of it: what a delay is to a thread
// (measure::Place::storage). Samples at random are read once more, in threads of their own and past
// the page cache, so that no worker waits for them. Thread-safe.
class ExtraReads {
 public:
  // Up to `threads` reads at a time. All outlive this. `reads` is told what is read; may be null.
  // Throws an Error where nothing can be read past the page cache.
  ExtraReads(const storage::DatasetVariant& dataset, const measure::Delays& delays, int threads,
             std::uint64_t seed, storage::OutstandingReads* reads);

  // A worker has made a sample. What the threads cannot keep up with is left out.
  void sample_made();

  // So many were read. Those that failed do not count.
  std::int64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  void read_on(storage::Storage& storage, std::uint64_t seed, const std::stop_token& stop);

  const storage::DatasetVariant& dataset_;
  const measure::Delays& delays_;
  std::mutex mutex_;
  std::condition_variable_any wanted_;
  double owed_ = 0;    // reads
  int under_way_ = 0;  // reads that a thread has begun
  int to_begin_ = 0;   // reads that no thread has begun
  std::atomic<std::int64_t> count_{0};
  std::vector<std::unique_ptr<storage::Storage>> storages_;
  std::vector<std::jthread> threads_;  // last: they use the rest, and end first
};

}  // namespace feedrate::pipeline
