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

// A few ready batches, made once: what a step costs when data costs nothing. They show pictures
// that StepSpec::draw draws, normalised as ImageNet's, or else standard normal noise; labels are
// random. More than one, so that no step finds its input in a cache; at most four, and no more than
// 1 GiB of them.
class SyntheticRing {
 public:
  // Batches of the network's input (see input_size()) with elements of `type` on `device`. How
  // `spec.batch` lies in host memory, and is normalised, is not looked at.
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
