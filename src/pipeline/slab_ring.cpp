#include "pipeline/slab_ring.h"

#include <cstring>
#include <new>

namespace feedrate::pipeline {
namespace {

class HostSlabs : public SlabAllocator {
 public:
  std::byte* allocate(std::size_t bytes) override {
    auto* slab = static_cast<std::byte*>(::operator new(bytes, kAlignment));
    std::memset(slab, 0, bytes);  // page faults now, not in the measured window
    return slab;
  }
  void release(std::byte* slab, std::size_t) noexcept override {
    ::operator delete(slab, kAlignment);
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
};

}  // namespace

std::shared_ptr<SlabAllocator> host_slabs() { return std::make_shared<HostSlabs>(); }

void ReturnToRing::operator()(HostBatch* batch) const {
  if (ring) ring->give_back(batch);
}

SlabRing::SlabRing(const BatchSpec& spec, std::shared_ptr<SlabAllocator> allocator)
    : spec_(spec), allocator_(std::move(allocator)) {}

std::shared_ptr<SlabRing> SlabRing::make(const BatchSpec& spec, int slabs,
                                         std::shared_ptr<SlabAllocator> allocator) {
  const std::shared_ptr<SlabRing> ring(new SlabRing(spec, std::move(allocator)));
  ring->batches_.resize(static_cast<std::size_t>(slabs));
  for (HostBatch& batch : ring->batches_) {
    batch.pixels = ring->allocator_->allocate(spec.bytes());
    batch.labels.resize(static_cast<std::size_t>(spec.batch_size));
    batch.augmentations.resize(static_cast<std::size_t>(spec.batch_size));
    ring->free_.push_back(&batch);
  }
  return ring;
}

SlabRing::~SlabRing() {
  for (HostBatch& batch : batches_) {
    if (batch.pixels) allocator_->release(batch.pixels, spec_.bytes());
  }
}

BatchLease SlabRing::acquire() {
  std::unique_lock lock(mutex_);
  freed_.wait(lock, [&] { return closed_ || !free_.empty(); });
  return take();
}

BatchLease SlabRing::try_acquire() {
  const std::lock_guard lock(mutex_);
  return take();
}

BatchLease SlabRing::take() {
  if (closed_ || free_.empty()) return nullptr;
  HostBatch* batch = free_.back();
  free_.pop_back();
  return BatchLease(batch, ReturnToRing{shared_from_this()});
}

void SlabRing::give_back(HostBatch* batch) {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(batch);
  }
  freed_.notify_one();
}

void SlabRing::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  freed_.notify_all();
}

}  // namespace feedrate::pipeline
