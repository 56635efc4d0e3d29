#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "pipeline/batch.h"

namespace feedrate {

struct TrainBatch {
  at::Tensor input;   // (N, 3, H, W), channels_last, normalised
  at::Tensor labels;  // (N), int64
};

// A few ready batches of random pixels (standard normal, as normalised pictures are) and labels,
// made once: what a step costs when data costs nothing. More than one, so that no step finds its
// input in a cache; at most four, and no more than 1 GiB of them.
class SyntheticRing {
 public:
  // Batches of `spec`'s shape (its dtype is not looked at) with elements of `type` on `device`.
  SyntheticRing(const BatchSpec& spec, int classes, at::ScalarType type, c10::Device device,
                std::uint64_t seed);

  const TrainBatch& next() { return batches_[steps_++ % batches_.size()]; }

 private:
  std::vector<TrainBatch> batches_;
  std::size_t steps_ = 0;
};

}  // namespace feedrate
