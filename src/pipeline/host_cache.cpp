#include <algorithm>
#include <atomic>
#include <cstring>

#include "measure/cpu_cache.h"
#include "pipeline/loader.h"

namespace feedrate::pipeline {
namespace {

class HostCache : public Loader {
 public:
  HostCache(std::unique_ptr<Loader> inner, const BatchSpec& spec,
            std::shared_ptr<SlabAllocator> slabs, int batches)
      : inner_(std::move(inner)), spec_(spec), slabs_(std::move(slabs)), batches_wanted_(batches) {}

  BatchLease next() override {
    if (static_cast<int>(batches_.size()) < std::min(kLoaded, batches_wanted_)) return fill();
    HostBatch* batch = stopped_ ? nullptr : batches_[next_++ % batches_.size()].get();
    return BatchLease(batch, ReturnToRing{});
  }
  void stop() override {
    stopped_ = true;
    inner_->stop();
  }
  void pause() override { inner_->pause(); }
  void resume() override { inner_->resume(); }
  bool is_quiet() const override { return inner_->is_quiet(); }
  std::int64_t samples_ahead_limit() const override { return 0; }
  measure::StageTotals stages() const override { return inner_->stages(); }

 private:
  BatchLease fill() {
    BatchLease batch = inner_->next();
    if (!batch) return nullptr;
    batches_.push_back(std::move(batch));
    HostBatch* const latest = batches_.back().get();
    if (static_cast<int>(batches_.size()) == std::min(kLoaded, batches_wanted_)) {
      inner_->stop();  // from here on its workers are idle
      next_ = batches_.size();
      copy();
    }
    return BatchLease(latest, ReturnToRing{});
  }

  // Other memory with the same pixels: loading thousands of small batches would take minutes.
  void copy() {
    const int missing = batches_wanted_ - static_cast<int>(batches_.size());
    if (missing <= 0) return;
    const auto ring = SlabRing::make(spec_, missing, slabs_);
    for (int i = 0; i < missing; ++i) {
      const HostBatch& from = *batches_[static_cast<std::size_t>(i)];
      BatchLease to = ring->acquire();
      std::memcpy(to->pixels, from.pixels, spec_.bytes());
      to->labels = from.labels;
      to->augmentations = from.augmentations;
      to->sequence = from.sequence;
      batches_.push_back(std::move(to));
    }
  }

  static constexpr int kLoaded = 3;

  std::unique_ptr<Loader> inner_;
  const BatchSpec spec_;
  const std::shared_ptr<SlabAllocator> slabs_;
  const int batches_wanted_;
  std::vector<BatchLease> batches_;
  std::size_t next_ = 0;
  std::atomic<bool> stopped_{false};
};

}  // namespace

std::unique_ptr<Loader> make_host_cache(std::unique_ptr<Loader> inner, const BatchSpec& spec,
                                        std::shared_ptr<SlabAllocator> slabs, int batches) {
  return std::make_unique<HostCache>(std::move(inner), spec, std::move(slabs), batches);
}

int host_cache_batches(const BatchSpec& spec) {
  constexpr std::uint64_t kLargeCache = std::uint64_t{256} << 20;  // where no size is known
  const std::uint64_t known = measure::last_level_cache_bytes();
  const std::uint64_t wanted = 2 * (known > 0 ? known : kLargeCache);
  return std::max(3, static_cast<int>((wanted + spec.bytes() - 1) / spec.bytes()));
}

}  // namespace feedrate::pipeline
