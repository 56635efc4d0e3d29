#pragma once
#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAStream.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "device/arrivals.h"
#include "pipeline/batch.h"
#include "pipeline/slab_ring.h"

namespace feedrate::train {

// A batch in device memory, as it was on the host.
struct DeviceBatch {
  at::Tensor pixels;  // (N, H, W, 3), spec's dtype; uint8 where they came encoded
  at::Tensor labels;  // (N), int64
};

// Queues on `stream` the work that brings a batch's pixels into `pixels`, (N, H, W, 3) on the
// device. The batch stays until the stream has come that far; `slot` is one of CopyEngine::kSlots,
// each in use by one batch at a time. Returns who decodes how many of its pictures.
using PutPixels =
    std::function<device::DecodedBy(std::size_t slot, const pipeline::HostBatch& batch,
                                    const at::Tensor& pixels, const c10::cuda::CUDAStream& stream)>;
PutPixels plain_copy();

// Is told of a batch's copy when it has ended: the events around it, and the batch's number.
using SeenCopy = std::function<void(const c10::cuda::CUDAEvent& begun,
                                    const c10::cuda::CUDAEvent& copied, std::int64_t batch)>;

// Copies batches to a GPU on a stream of its own, into one of two buffers, so that a batch travels
// while the GPU trains on the one before. Holds a slab until its copy has ended; of the slabs given
// to it, at most one when copy() returns and none after wait(). All its waits are for one copy,
// none for the GPU.
class CopyEngine {
 public:
  // `compute`: the stream that reads the batches; must be the current one. `put`: how pixels get
  // there.
  CopyEngine(const pipeline::BatchSpec& spec, c10::cuda::CUDAStream compute, PutPixels put);
  ~CopyEngine();
  CopyEngine(const CopyEngine&) = delete;
  CopyEngine& operator=(const CopyEngine&) = delete;

  static constexpr std::size_t kSlots = 2;

  // Starts the copy into the slot that it returns, and has `compute` wait for it.
  std::size_t copy(pipeline::BatchLease batch);
  // The same memory at all times; what copy() put there is good until done_reading().
  const DeviceBatch& operator[](std::size_t slot) const { return slots_[slot].batch; }

  // What has been queued on `compute` so far is all that reads the last batch: when it has run, the
  // buffer may be written again.
  void done_reading();

  void release();  // gives back the slab if its copy has ended; does not wait
  void wait();     // waits for the copy, and gives back the slab

  const device::Arrivals& arrivals() const { return arrivals_; }  // of slabs that were given back
  void watch(SeenCopy seen) { seen_ = std::move(seen); }

 private:
  struct Slot {
    DeviceBatch batch;
    std::byte* staged_labels = nullptr;  // page-locked: HostBatch's labels are not
    pipeline::BatchLease lease;
    device::DecodedBy decoded;
    c10::cuda::CUDAEvent begun{cudaEventDefault};
    c10::cuda::CUDAEvent copied{cudaEventBlockingSync};
    c10::cuda::CUDAEvent read{cudaEventDisableTiming};
  };
  void arrived(Slot& slot);
  std::size_t label_bytes() const {
    return sizeof(std::int64_t) * static_cast<std::size_t>(spec_.batch_size);
  }

  const pipeline::BatchSpec spec_;
  const c10::cuda::CUDAStream compute_;
  const c10::cuda::CUDAStream stream_;
  const PutPixels put_;
  const std::shared_ptr<pipeline::SlabAllocator> staging_;
  std::array<Slot, kSlots> slots_;
  std::size_t copies_ = 0;
  device::Arrivals arrivals_;
  SeenCopy seen_;  // may be empty
};

}  // namespace feedrate::train
