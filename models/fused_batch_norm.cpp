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
  // One output; with a shortcut two, which share their memory. `of_shortcut`: a shortcut that is
  // normalised has one. The tensors without a name are the weights and biases of both, which have
  // gradients.
  static variable_list forward(AutogradContext* context, const Tensor& x, const Tensor&,
                               const Tensor&, const std::optional<Tensor>& shortcut,
                               const std::optional<Tensor>&, const std::optional<Tensor>&,
                               const BatchNormState& state,
                               const std::optional<BatchNormState>& of_shortcut, Behind behind) {
    context->set_materialize_grads(false);  // a reader that is absent is no tensor of zeros
    const BatchNormKernels& kernels = *batch_norm_kernels(x.device().type());
    BatchNormSaved saved{.main = {.x = x}, .relu = behind != Behind::nothing};
    const Tensor added = shortcut ? channels_last(*shortcut) : Tensor();
    kernels.statistics(saved.main, state);
    if (of_shortcut) {
      saved.shortcut = {.x = added};
      kernels.statistics(saved.shortcut, *of_shortcut);
    }
    const Tensor y = behind == Behind::relu_and_pool ? kernels.normalise_and_pool(saved)
                                                     : kernels.normalise(saved, added);
    const auto& [main, second, passed, chosen, where, relu] = saved;
    context->save_for_backward({main.x, main.by, second.x, second.by, passed, chosen, where});
    context->saved_data["relu"] = relu;
    if (!shortcut) return {y};
    return {y, y.variable_data()};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const BatchNormSaved saved = saved_by(context);
    const BatchNormKernels& kernels = *batch_norm_kernels(saved.main.x.device().type());
    Tensor gradient = channels_last(gradients[0]);
    Tensor other = gradients.size() > 1 ? channels_last(gradients[1]) : Tensor();
    if (!gradient.defined()) std::swap(gradient, other);
    if (!gradient.defined()) return variable_list(kInputs);
    Tensor through;
    const Tensor sums = kernels.reduce(saved, gradient, other, through);
    const InputGradients of =
        kernels.input_gradients(saved, through.defined() ? through : gradient, sums);
    variable_list result(kInputs);
    result[0] = of.main, result[1] = sums[0][1], result[2] = sums[0][0];
    result[3] = of.shortcut.defined() ? of.shortcut : through;
    if (of.shortcut.defined()) result[4] = sums[1][1], result[5] = sums[1][0];
    return result;
  }

 private:
  static constexpr std::size_t kInputs = 9;  // of forward()

  static BatchNormSaved saved_by(AutogradContext* context) {
    const variable_list kept = context->get_saved_variables();
    return {.main = {kept[0], kept[1]},
            .shortcut = {kept[2], kept[3]},
            .passed = kept[4],
            .chosen = kept[5],
            .where = kept[6],
            .relu = context->saved_data["relu"].toBool()};
  }
};

Tensor alone(const Tensor& x, const BatchNormState& state, Behind behind) {
  return FusedBatchNorm::apply(x, state.weight, state.bias, std::nullopt, std::nullopt,
                               std::nullopt, state, std::nullopt, behind)[0];
}

Forked with_shortcut(const Tensor& x, const BatchNormState& state, const Tensor& shortcut,
                     const std::optional<BatchNormState>& of_shortcut) {
  std::optional<Tensor> weight, bias;
  if (of_shortcut) weight = of_shortcut->weight, bias = of_shortcut->bias;
  const variable_list both = FusedBatchNorm::apply(x, state.weight, state.bias, shortcut, weight,
                                                   bias, state, of_shortcut, Behind::relu);
  return {both[0], both[1]};
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
  return alone(x, state, Behind::nothing);
}

Tensor fused_batch_norm_relu(const Tensor& x, const BatchNormState& state) {
  return alone(x, state, Behind::relu);
}

Tensor fused_batch_norm_relu_pool(const Tensor& x, const BatchNormState& state) {
  return alone(x, state, Behind::relu_and_pool);
}

Forked fused_batch_norm_add_relu(const Tensor& x, const Tensor& shortcut,
                                 const BatchNormState& state) {
  return with_shortcut(x, state, shortcut, std::nullopt);
}

Forked fused_batch_norm_join_relu(const Tensor& x, const BatchNormState& state,
                                  const Tensor& shortcut, const BatchNormState& of_shortcut) {
  return with_shortcut(x, state, shortcut, of_shortcut);
}

}  // namespace feedrate::models
