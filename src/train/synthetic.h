#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "device/accelerator.h"
#include "device/group.h"

namespace feedrate::train {

// The same `spec` with a seed of the rank's own: ranks that train on equal batches would have equal
// gradients.
device::StepSpec of_rank(device::StepSpec spec, const device::Group& group);

struct TrainBatch {
  at::Tensor input;   // normalised, see as_input()
  at::Tensor labels;  // (N), int64
};

// A few ready batches of random pixels (standard normal, as normalised pictures are) and labels,
// made once: what a step costs when data costs nothing. More than one, so that no step finds its
// input in a cache; at most four, and no more than 1 GiB of them.
class SyntheticRing {
 public:
  // Batches of the shape of `spec.batch` (its dtype is not looked at) with elements of `type` on
  // `device`.
  SyntheticRing(const device::StepSpec& spec, at::ScalarType type, c10::Device device);

  // Round and round.
  std::size_t next_slot() { return steps_++ % batches_.size(); }
  const TrainBatch& next() { return batches_[next_slot()]; }
  const TrainBatch& operator[](std::size_t slot) const { return batches_[slot]; }
  std::size_t slots() const { return batches_.size(); }

 private:
  std::vector<TrainBatch> batches_;
  std::size_t steps_ = 0;
};

}  // namespace feedrate::train
