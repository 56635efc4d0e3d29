#include "models/blocks_cuda.cuh"
#include "train/augment_launch.h"

namespace feedrate::train {

at::Tensor augment_on_cuda(const AugmentBatch& batch) {
  return launch_augment<models::OnCuda>(batch);
}

}  // namespace feedrate::train
