#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

namespace feedrate::train {

// Weights that are held in a 16-bit type, each beside an fp32 master that the optimiser moves
// (Micikevicius et al. 2018, "Mixed Precision Training"). The same rounding as autocast's, which
// casts every weight in every forward pass and every gradient in every backward pass; here all are
// cast together, twice a step.
class MasterWeights {
 public:
  // `weights` (fp32) become tensors of `type`. Without weights, the functions below do nothing.
  MasterWeights(std::vector<at::Tensor> weights, at::ScalarType type);

  // The parameters, with each weight that has a master replaced by it: what the optimiser moves.
  std::vector<at::Tensor> in_place_of(std::vector<at::Tensor> parameters) const;

  void take_gradients();  // from the weights, which lose theirs, to the masters
  void publish();         // the masters' values to the weights

 private:
  std::vector<at::Tensor> weights_, masters_, gradients_;
};

}  // namespace feedrate::train
