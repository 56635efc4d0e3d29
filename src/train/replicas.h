#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <vector>

#include "train/process_group.h"

namespace c10d {
class Reducer;
}

namespace feedrate::train {

// When a step waits for gradients. Between the two calls, once no gradient is left to be computed,
// a rank only waits for the other ranks.
struct ExchangeWatch {
  std::function<void()> handed_over;  // this rank's last gradients are on their way
  std::function<void()> averaged;     // all gradients are the ranks' mean
};

// Data-parallel training: the network is the same in every rank, and stays the same because the
// gradients are averaged over the ranks. They are sent in buckets while the backward pass still
// makes others (Li et al., "PyTorch Distributed", VLDB 2020), by LibTorch's own Reducer. Buffers
// (running statistics) stay each rank's own.
class Replicas {
 public:
  // Rank 0's `state` goes to all: what must be equal at the start. `parameters` keep their layout
  // from here on.
  Replicas(ProcessGroup group, const std::vector<at::Tensor>& parameters,
           const std::vector<at::Tensor>& state, ExchangeWatch watch);
  ~Replicas();

  // Around one forward and backward pass; behind after_backward() each parameter's gradient is the
  // mean.
  void before_forward();
  void before_backward();
  void after_backward();

  // Ends exchanges that are under way, which other ranks may never make: what a GPU has queued of
  // them is over then. No step is made after that.
  void abandon() noexcept;

 private:
  const ProcessGroup group_;
  const ExchangeWatch watch_;
  std::unique_ptr<c10d::Reducer> reducer_;
  bool is_abandoned_ = false;
};

}  // namespace feedrate::train
