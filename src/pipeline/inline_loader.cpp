#include "pipeline/loader.h"
#include "pipeline/worker.h"

namespace feedrate::pipeline {
namespace {

// workers = 0: samples are made in the training thread, as PyTorch does with num_workers=0.
class InlineLoader : public Loader {
 public:
  explicit InlineLoader(LoaderOptions options)
      : options_(std::move(options)),
        // One being filled, two on their way into the device.
        ring_(SlabRing::make(options_.recipe.spec, 3, options_.slabs)),
        worker_(options_) {}

  BatchLease next() override {
    BatchLease batch = ring_->acquire();
    if (!batch) return nullptr;
    batch->sequence = sequence_++;
    worker_.fill_all(*batch);
    return batch;
  }
  void stop() override { ring_->close(); }
  std::int64_t samples_ahead_limit() const override { return 0; }
  measure::StageTotals stages() const override { return worker_.stages(); }
  void add_latencies(storage::ReadLatencies& to) const override { worker_.add_latencies(to); }

 private:
  LoaderOptions options_;
  std::shared_ptr<SlabRing> ring_;
  Worker worker_;
  std::int64_t sequence_ = 0;
};

}  // namespace

std::unique_ptr<Loader> make_inline_loader(LoaderOptions options) {
  return std::make_unique<InlineLoader>(std::move(options));
}

}  // namespace feedrate::pipeline
