#include "train/loss_watch_cuda.h"

#include <ATen/Functions.h>
#include <c10/cuda/CUDAException.h>

#include "train/pinned_slabs_cuda.h"

namespace feedrate::train {

LossWatch::LossWatch(c10::Device device, std::size_t places)
    : sum_(at::zeros({}, at::TensorOptions(device).dtype(at::kFloat))),
      seen_(pinned_bytes(places * sizeof(float))) {}

void LossWatch::copy_to_host(std::size_t place, const c10::cuda::CUDAStream& stream) {
  C10_CUDA_CHECK(cudaMemcpyAsync(seen_.get() + place * sizeof(float), sum_.data_ptr(),
                                 sizeof(float), cudaMemcpyDeviceToHost, stream.stream()));
}

float LossWatch::sum(std::size_t place) const {
  return reinterpret_cast<const float*>(seen_.get())[place];
}

}  // namespace feedrate::train
