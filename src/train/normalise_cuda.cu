#include "models/blocks_cuda.cuh"
#include "train/normalise_kernel.h"
#include "train/normalise_launch.h"

namespace feedrate::train {

at::Tensor normalise_on_cuda(const at::Tensor& bytes, const at::Tensor& table) {
  return launch_normalise<models::OnCuda>(bytes, table);
}

at::Tensor normalise_space_to_depth_on_cuda(const at::Tensor& bytes, const at::Tensor& table) {
  return launch_normalise_space_to_depth<models::OnCuda>(bytes, table);
}

}  // namespace feedrate::train
