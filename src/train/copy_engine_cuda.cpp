#include "train/copy_engine_cuda.h"

#include <ATen/Functions.h>
#include <c10/cuda/CUDAException.h>

#include <cstring>

#include "train/host_batch.h"
#include "train/pinned_slabs_cuda.h"

namespace feedrate::train {
namespace {

void copy_to_device(const at::Tensor& to, const void* from, cudaStream_t stream) {
  C10_CUDA_CHECK(cudaMemcpyAsync(to.data_ptr(), from, to.nbytes(), cudaMemcpyHostToDevice, stream));
}

}  // namespace

PutPixels plain_copy() {
  return [](std::size_t, const pipeline::HostBatch& batch, const at::Tensor& pixels,
            const c10::cuda::CUDAStream& stream) {
    copy_to_device(pixels, batch.pixels, stream.stream());
    return device::DecodedBy{};
  };
}

CopyEngine::CopyEngine(const pipeline::BatchSpec& spec, c10::cuda::CUDAStream compute,
                       PutPixels put)
    : spec_(spec),
      compute_(compute),
      stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/true, compute.device_index())),
      put_(std::move(put)),
      staging_(pinned_slabs()) {
  const at::TensorOptions on_device(compute.device());
  for (Slot& slot : slots_) {
    slot.batch.pixels = at::empty({spec.batch_size, spec.size.height, spec.size.width, 3},
                                  on_device.dtype(torch_type(spec.dtype)));
    slot.batch.labels = at::empty({spec.batch_size}, on_device.dtype(at::kLong));
    slot.staged_labels = staging_->allocate(label_bytes());
  }
  // The allocator may hand out memory that work on `compute` still uses; the copies would not wait.
  compute.synchronize();
}

CopyEngine::~CopyEngine() {
  // Slabs and buffers must outlive the copies that use them; an error here has been reported.
  if (cudaStreamSynchronize(stream_.stream()) != cudaSuccess) cudaGetLastError();
  for (Slot& slot : slots_) {
    if (slot.staged_labels) staging_->release(slot.staged_labels, label_bytes());
  }
}

std::size_t CopyEngine::copy(pipeline::BatchLease batch) {
  wait();  // for the copy before this one: with the GPU two steps behind it ended long ago
  const std::size_t number = copies_++ % kSlots;
  Slot& slot = slots_[number];
  slot.lease = std::move(batch);
  std::memcpy(slot.staged_labels, slot.lease->labels.data(), label_bytes());
  slot.read.block(stream_);
  slot.begun.record(stream_);
  slot.decoded = put_(number, *slot.lease, slot.batch.pixels, stream_);
  copy_to_device(slot.batch.labels, slot.staged_labels, stream_.stream());
  slot.copied.record(stream_);
  slot.copied.block(compute_);
  return number;
}

void CopyEngine::done_reading() { slots_[(copies_ + 1) % kSlots].read.record(compute_); }

void CopyEngine::release() {
  for (Slot& slot : slots_) {
    if (slot.lease && slot.copied.query()) arrived(slot);
  }
}

void CopyEngine::wait() {
  for (Slot& slot : slots_) {
    if (!slot.lease) continue;
    slot.copied.synchronize();
    arrived(slot);
  }
}

void CopyEngine::arrived(Slot& slot) {
  if (seen_) seen_(slot.begun, slot.copied, slot.lease->sequence);
  slot.lease.reset();
  const auto busy_ns =
      static_cast<std::int64_t>(1e6 * static_cast<double>(slot.begun.elapsed_time(slot.copied)));
  arrivals_ += device::Arrivals{.batches = 1, .busy_ns = busy_ns, .decoded = slot.decoded};
}

}  // namespace feedrate::train
