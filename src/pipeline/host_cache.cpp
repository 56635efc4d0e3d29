#include <atomic>

#include "pipeline/loader.h"

namespace feedrate::pipeline {
namespace {

class HostCache : public Loader {
 public:
  HostCache(std::unique_ptr<Loader> inner, std::size_t batches)
      : inner_(std::move(inner)), batches_wanted_(batches) {}

  BatchLease next() override {
    if (batches_.size() < batches_wanted_) return fill();
    HostBatch* batch = stopped_ ? nullptr : batches_[next_++ % batches_.size()].get();
    return BatchLease(batch, ReturnToRing{});
  }
  void stop() override {
    stopped_ = true;
    inner_->stop();
  }
  std::int64_t samples_ahead_limit() const override { return 0; }
  measure::StageTotals stages() const override { return inner_->stages(); }

 private:
  BatchLease fill() {
    BatchLease batch = inner_->next();
    if (!batch) return nullptr;
    batches_.push_back(std::move(batch));
    if (batches_.size() == batches_wanted_) inner_->stop();  // from here on its workers are idle
    return BatchLease(batches_.back().get(), ReturnToRing{});
  }

  std::unique_ptr<Loader> inner_;
  const std::size_t batches_wanted_;
  std::vector<BatchLease> batches_;
  std::size_t next_ = 0;
  std::atomic<bool> stopped_{false};
};

}  // namespace

std::unique_ptr<Loader> make_host_cache(std::unique_ptr<Loader> inner, int batches) {
  return std::make_unique<HostCache>(std::move(inner), static_cast<std::size_t>(batches));
}

}  // namespace feedrate::pipeline
