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
    : put_(std::move(put)),
      schedule_(
          compute, c10::cuda::getStreamFromPool(/*isHighPriority=*/true, compute.device_index()),
          [this](std::size_t slot, const pipeline::HostBatch& batch,
                 const c10::cuda::CUDAStream& stream) { return this->put(slot, batch, stream); }) {
  const at::TensorOptions on_device(compute.device());
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    batches_[slot] = {at::empty({spec.batch_size, spec.size.height, spec.size.width, 3},
                                on_device.dtype(torch_type(spec.dtype))),
                      at::empty({spec.batch_size}, on_device.dtype(at::kLong))};
    staged_labels_[slot] = pinned_bytes(batches_[slot].labels.nbytes());
  }
  // The allocator may hand out memory that work on `compute` still uses; the copies would not wait.
  compute.synchronize();
}

device::DecodedBy CopyEngine::put(std::size_t slot, const pipeline::HostBatch& batch,
                                  const c10::cuda::CUDAStream& stream) {
  const DeviceBatch& there = batches_[slot];
  std::memcpy(staged_labels_[slot].get(), batch.labels.data(), there.labels.nbytes());
  const device::DecodedBy decoded = put_(slot, batch, there.pixels, stream);
  copy_to_device(there.labels, staged_labels_[slot].get(), stream.stream());
  return decoded;
}

}  // namespace feedrate::train
