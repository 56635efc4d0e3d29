#include "pipeline/extra_reads.h"

#include "base/error.h"
#include "base/random.h"
#include "storage/container.h"

namespace feedrate::pipeline {

ExtraReads::ExtraReads(const storage::DatasetVariant& dataset, const measure::Delays& delays,
                       int threads, std::uint64_t seed, storage::OutstandingReads* reads)
    : dataset_(dataset), delays_(delays) {
  const storage::Io past_page_cache{&storage::find_io_engine("direct"), 1};
  for (int t = 0; t < threads; ++t) {
    storages_.push_back(storage::make_storage(dataset, past_page_cache));
    if (reads) storages_.back()->tell(reads->add());
  }
  for (int t = 0; t < threads; ++t) {
    threads_.emplace_back([this, t, seed] {
      const auto number = static_cast<std::size_t>(t);
      read_on(*storages_[number], mix64(seed, number));
    });
  }
}

ExtraReads::~ExtraReads() {
  over_ = true;
  wanted_.release(static_cast<std::ptrdiff_t>(threads_.size()));
}

void ExtraReads::sample_made() {
  const std::int64_t share = delays_.slept(measure::Place::storage);
  if (share <= 0) return;
  const std::int64_t before = owed_.fetch_add(share, std::memory_order_relaxed);
  const std::int64_t reads = (before + share) / measure::kReadEach - before / measure::kReadEach;
  for (std::int64_t i = 0; i < reads; ++i) {
    if (waiting_.fetch_add(1) >= static_cast<std::int64_t>(threads_.size())) {
      waiting_.fetch_sub(1);
      return;
    }
    wanted_.release();
  }
}

void ExtraReads::read_on(storage::Storage& storage, std::uint64_t seed) {
  Random chance(seed);
  for (;;) {
    wanted_.acquire();
    if (over_) return;
    const auto sample =
        static_cast<std::size_t>(chance.below(static_cast<int>(dataset_.samples.size())));
    try {
      storage.read(dataset_.samples[sample]);
      count_.fetch_add(1, std::memory_order_relaxed);
    } catch (const Error&) {  // the worker that needs it says so
    }
    waiting_.fetch_sub(1);
  }
}

}  // namespace feedrate::pipeline
