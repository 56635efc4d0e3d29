#include "models/fused_batch_norm.h"

#include <ATen/Functions.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace feedrate::models {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

Tensor channels_last(const Tensor& gradient) {
  return gradient.defined() ? gradient.contiguous(at::MemoryFormat::ChannelsLast) : gradient;
}

// What follows the normalisation, and an addition where there is a shortcut.
enum class Behind : std::uint8_t { nothing, relu, relu_and_pool };

class FusedBatchNorm : public torch::autograd::Function<FusedBatchNorm> {
 public:
  // One output; with a shortcut two, over the same memory.
  static variable_list forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                               const Tensor& bias, const std::optional<Tensor>& shortcut,
                               const BatchNormState& state, Behind behind) {
    context->set_materialize_grads(false);  // a reader that is absent is no tensor of zeros
    const BatchNormKernels& kernels = *batch_norm_kernels(x.device().type());
    BatchNormSaved saved{.x = x, .weight = weight, .bias = bias, .relu = behind != Behind::nothing};
    kernels.statistics(saved, state);
    const Tensor y = behind == Behind::relu_and_pool
                         ? kernels.normalise_and_pool(saved)
                         : kernels.normalise(saved, shortcut ? channels_last(*shortcut) : Tensor());
    context->save_for_backward(
        {x, saved.mean, saved.invstd, weight, bias, saved.passed, saved.chosen, saved.where});
    context->saved_data["relu"] = saved.relu;
    if (!shortcut) return {y};
    return {y, y.variable_data()};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list kept = context->get_saved_variables();
    const BatchNormSaved saved{.x = kept[0],
                               .mean = kept[1],
                               .invstd = kept[2],
                               .weight = kept[3],
                               .bias = kept[4],
                               .passed = kept[5],
                               .chosen = kept[6],
                               .where = kept[7],
                               .relu = context->saved_data["relu"].toBool()};
    const BatchNormKernels& kernels = *batch_norm_kernels(saved.x.device().type());
    Tensor gradient = channels_last(gradients[0]);
    Tensor other = gradients.size() > 1 ? channels_last(gradients[1]) : Tensor();
    if (!gradient.defined()) std::swap(gradient, other);
    if (!gradient.defined()) return variable_list(6);
    Tensor through;
    const Tensor sums = kernels.reduce(saved, gradient, other, through);
    const Tensor of_x = kernels.input_gradient(saved, through.defined() ? through : gradient, sums);
    return {of_x, sums[1], sums[0], through, Tensor(), Tensor()};
  }
};

variable_list apply(const Tensor& x, const std::optional<Tensor>& shortcut,
                    const BatchNormState& state, Behind behind) {
  return FusedBatchNorm::apply(x, state.weight, state.bias, shortcut, state, behind);
}

}  // namespace

const BatchNormKernels* batch_norm_kernels(c10::DeviceType device) {
  if (device == at::kCPU) return host_batch_norm();
  return device == at::kCUDA ? cuda_batch_norm() : nullptr;
}

bool fits_fused_batch_norm(const Tensor& x) {
  const BatchNormKernels* kernels = batch_norm_kernels(x.device().type());
  return kernels != nullptr && x.dim() == 4 && x.is_contiguous(at::MemoryFormat::ChannelsLast) &&
         kernels->takes(x.scalar_type(), x.size(1));
}

Tensor fused_batch_norm(const Tensor& x, const BatchNormState& state) {
  return apply(x, {}, state, Behind::nothing)[0];
}

Tensor fused_batch_norm_relu(const Tensor& x, const BatchNormState& state) {
  return apply(x, {}, state, Behind::relu)[0];
}

Tensor fused_batch_norm_relu_pool(const Tensor& x, const BatchNormState& state) {
  return apply(x, {}, state, Behind::relu_and_pool)[0];
}

Forked fused_batch_norm_add_relu(const Tensor& x, const Tensor& shortcut,
                                 const BatchNormState& state) {
  const variable_list both = apply(x, shortcut, state, Behind::relu);
  return {both[0], both[1]};
}

}  // namespace feedrate::models
