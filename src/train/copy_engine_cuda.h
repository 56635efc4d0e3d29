#pragma once
#include <ATen/core/Tensor.h>

#include <array>
#include <functional>
#include <memory>
#include <utility>

#include "device/copy_slots.h"
#include "pipeline/batch.h"
#include "pipeline/slab_ring.h"
#include "train/streams_cuda.h"

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

// Copies batches to a GPU by the schedule of CopySlots: the buffers, and what travels into them.
class CopyEngine {
 public:
  using Slots = device::CopySlots<CudaStreams>;
  static constexpr std::size_t kSlots = Slots::kSlots;

  // `compute`: the stream that reads the batches; must be the current one. `put`: how pixels get
  // there.
  CopyEngine(const pipeline::BatchSpec& spec, c10::cuda::CUDAStream compute, PutPixels put);

  // copy(), done_reading(), release(), wait(), arrivals(), watch().
  Slots& schedule() { return schedule_; }
  const Slots& schedule() const { return schedule_; }

  // The same memory at all times; what copy() put there is good until done_reading().
  const DeviceBatch& operator[](std::size_t slot) const { return batches_[slot]; }

 private:
  device::DecodedBy put(std::size_t slot, const pipeline::HostBatch& batch,
                        const c10::cuda::CUDAStream& stream);

  const PutPixels put_;
  std::array<DeviceBatch, kSlots> batches_;
  // Page-locked: HostBatch's labels are not.
  std::array<std::shared_ptr<std::byte>, kSlots> staged_labels_;
  Slots schedule_;  // is destroyed first, and waits for the copies into the others
};

}  // namespace feedrate::train
