#pragma once
#include <ATen/core/Tensor.h>

#include "models/batch_norm_kernels.h"

namespace feedrate::models {

// One activation for two readers, a block's first convolution and its shortcut. Two tensors over
// the same memory, so that their gradients arrive apart and can be added where they are read.
struct Forked {
  at::Tensor main, shortcut;
};

// Whether the functions below take x: channels_last, and kernels for its device, type and number of
// channels.
bool fits_fused_batch_norm(const at::Tensor& x);

// batch_norm(x), relu(batch_norm(x)), that with a max pooling of 3x3 with stride 2 and padding 1
// behind it, relu(batch_norm(x) + shortcut) and relu(batch_norm(x) + batch_norm(shortcut)), in
// training mode, x and shortcut alike. Differentiable in x, shortcut, weights and biases.
at::Tensor fused_batch_norm(const at::Tensor& x, const BatchNormState& state);
at::Tensor fused_batch_norm_relu(const at::Tensor& x, const BatchNormState& state);
at::Tensor fused_batch_norm_relu_pool(const at::Tensor& x, const BatchNormState& state);
Forked fused_batch_norm_add_relu(const at::Tensor& x, const at::Tensor& shortcut,
                                 const BatchNormState& state);
Forked fused_batch_norm_join_relu(const at::Tensor& x, const BatchNormState& state,
                                  const at::Tensor& shortcut, const BatchNormState& of_shortcut);

}  // namespace feedrate::models
