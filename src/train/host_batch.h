#pragma once
#include <ATen/core/Tensor.h>

#include "pipeline/batch.h"

namespace feedrate::train {

at::ScalarType torch_type(codec::Dtype dtype);

// The batch's pixels, (N, H, W, 3), borrowed: valid as long as the batch.
at::Tensor borrow_pixels(const pipeline::HostBatch& batch, const pipeline::BatchSpec& spec);

// A label outside 0 .. classes-1 would stop a GPU with an assertion that names nothing. Errors:
// Error.
void check_labels(const pipeline::HostBatch& batch, int classes);

// The labels, copied: (N), int64.
at::Tensor copy_labels(const pipeline::HostBatch& batch, int classes);

}  // namespace feedrate::train
