#include "train/host_batch.h"

#include <ATen/Functions.h>

#include <string>

#include "base/error.h"

namespace feedrate::train {

at::ScalarType torch_type(codec::Dtype dtype) {
  switch (dtype) {
    case codec::Dtype::uint8:
      return at::kByte;
    case codec::Dtype::fp16:
      return at::kHalf;
    case codec::Dtype::fp32:
      break;
  }
  return at::kFloat;
}

at::Tensor borrow_pixels(const pipeline::HostBatch& batch, const pipeline::BatchSpec& spec) {
  return at::from_blob(batch.pixels, {spec.batch_size, spec.size.height, spec.size.width, 3},
                       torch_type(spec.dtype));
}

void check_labels(const pipeline::HostBatch& batch, int classes) {
  for (const std::int64_t label : batch.labels) {
    if (label >= 0 && label < classes) continue;
    throw Error("label " + std::to_string(label),
                "the network has " + std::to_string(classes) + " classes, numbered from 0",
                "use a dataset with fewer classes");
  }
}

at::Tensor copy_labels(const pipeline::HostBatch& batch, int classes) {
  check_labels(batch, classes);
  return at::tensor(batch.labels, at::kLong);
}

}  // namespace feedrate::train
