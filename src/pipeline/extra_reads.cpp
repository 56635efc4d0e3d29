#include "pipeline/extra_reads.h"

#include <exception>

#include "base/random.h"
#include "storage/container.h"

namespace feedrate::pipeline {

ExtraReads::ExtraReads(const storage::DatasetVariant& dataset, const measure::Delays& delays,
                       int threads, std::uint64_t seed, storage::OutstandingReads* reads)
    : dataset_(dataset), delays_(delays) {
  const storage::Io past_page_cache{&storage::find_io_engine("direct"), 1};
  for (int t = 0; t < threads; ++t) {
    storages_.push_back(storage::make_storage(dataset, past_page_cache));
    if (reads) storages_.back()->report_waits_to(reads->add());
  }
  for (std::size_t t = 0; t < storages_.size(); ++t) {
    threads_.emplace_back([this, t, seed](const std::stop_token& stop) {
      read_on(*storages_[t], mix64(seed, t), stop);
    });
  }
}

void ExtraReads::sample_made() {
  const double share = delays_.reads();
  if (share <= 0) return;
  const std::scoped_lock lock(mutex_);
  for (owed_ += share; owed_ >= 1; --owed_) {
    if (to_begin_ + under_way_ >= static_cast<int>(storages_.size())) continue;
    ++to_begin_;
    wanted_.notify_one();
  }
}

void ExtraReads::read_on(storage::Storage& storage, std::uint64_t seed,
                         const std::stop_token& stop) {
  Random chance(seed);
  std::unique_lock lock(mutex_);
  while (wanted_.wait(lock, stop, [this] { return to_begin_ > 0; })) {
    --to_begin_, ++under_way_;
    lock.unlock();
    const int sample = chance.below(static_cast<int>(dataset_.samples.size()));
    bool is_read = true;
    try {
      storage.read(dataset_.samples[static_cast<std::size_t>(sample)]);
    } catch (const std::exception&) {  // the worker that needs it says so
      is_read = false;
    }
    lock.lock();
    --under_way_;
    if (is_read) count_.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace feedrate::pipeline
