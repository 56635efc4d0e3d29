#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <ostream>
#include <vector>

#include "models/fused_batch_norm.h"

// What the fused batch normalisation is held against, on whatever device: its definition in fp64.
namespace feedrate::tests {

using at::Tensor;

struct BatchNormCase {
  std::int64_t pictures, channels, height, width;
  at::ScalarType type = at::kFloat;
};

std::ostream& operator<<(std::ostream& out, const BatchNormCase& c);

// join: the shortcut is normalised, too; once: the sum has one reader.
enum class Form { plain, relu, relu_pool, add_relu, add_relu_once, join_relu, join_relu_once };

inline constexpr Form kForms[] = {Form::plain,         Form::relu,          Form::relu_pool,
                                  Form::add_relu,      Form::add_relu_once, Form::join_relu,
                                  Form::join_relu_once};

// Everything that goes in, and everything that comes out, of one forward and backward pass.
struct Pass {
  Tensor x, shortcut, gradient, other;  // in
  models::BatchNormState state, state_of_shortcut;
  Tensor y, of_x, of_shortcut, of_weight, of_bias;  // out
  Tensor of_shortcuts_weight, of_shortcuts_bias;    // out, where it is normalised

  std::vector<Tensor*> inputs() {
    std::vector<Tensor*> all = {&x, &shortcut};
    for (models::BatchNormState* s : {&state, &state_of_shortcut})
      all.insert(all.end(), {&s->weight, &s->bias, &s->running_mean, &s->running_var});
    return all;
  }
  std::vector<Tensor*> learnt() {
    return {&x,
            &shortcut,
            &state.weight,
            &state.bias,
            &state_of_shortcut.weight,
            &state_of_shortcut.bias};
  }
  void take_gradients() {
    of_x = x.grad(), of_shortcut = shortcut.grad();
    of_weight = state.weight.grad(), of_bias = state.bias.grad();
    of_shortcuts_weight = state_of_shortcut.weight.grad();
    of_shortcuts_bias = state_of_shortcut.bias.grad();
  }
};

Tensor in_channels_last(const Tensor& t);

// The same on every device.
Pass batch_norm_input(const BatchNormCase& c, double offset = 0.3, c10::Device device = at::kCPU);

// The definition, by the library's operations one after the other, in double precision.
Pass in_double(const Pass& in, Form form);
Pass fused(const Pass& in, Form form);

double distance_to(const Tensor& a, const Tensor& b);

// `bound` is a share of each result's norm: a single value may differ where rounding turns a ReLU
// whose input is near zero.
void expect_near(const Pass& ours, const Pass& exact, double bound);

}  // namespace feedrate::tests
