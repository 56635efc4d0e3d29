#include "train/host_batch.h"

#include <ATen/Functions.h>

#include <string>

#include "measure/error.h"

namespace feedrate {

at::ScalarType torch_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::uint8:
      return at::kByte;
    case Dtype::fp16:
      return at::kHalf;
    case Dtype::fp32:
      break;
  }
  return at::kFloat;
}

at::Tensor borrow_pixels(const HostBatch& batch, const BatchSpec& spec) {
  return at::from_blob(batch.pixels, {spec.batch_size, spec.size.height, spec.size.width, 3},
                       torch_type(spec.dtype));
}

void check_labels(const HostBatch& batch, int classes) {
  for (const std::int64_t label : batch.labels) {
    if (label >= 0 && label < classes) continue;
    throw Error("label " + std::to_string(label),
                "the network tells " + std::to_string(classes) + " classes apart, from 0",
                "use a dataset with fewer classes");
  }
}

at::Tensor copy_labels(const HostBatch& batch, int classes) {
  check_labels(batch, classes);
  return at::tensor(batch.labels, at::kLong);
}

}  // namespace feedrate
