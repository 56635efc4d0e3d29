#include "models/batch_norm_launch.h"
#include "models/blocks_cuda.cuh"

namespace feedrate::models {

const BatchNormKernels* cuda_batch_norm() { return &batch_norm::kLaunched<OnCuda>; }

}  // namespace feedrate::models
