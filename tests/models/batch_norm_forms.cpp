#include "tests/models/batch_norm_forms.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

namespace feedrate::tests {
namespace {

bool joins(Form form) { return form == Form::join_relu || form == Form::join_relu_once; }
bool adds(Form form) {
  return form == Form::add_relu || form == Form::add_relu_once || joins(form);
}
bool has_two_readers(Form form) { return form == Form::add_relu || form == Form::join_relu; }

// A pooled result's is smaller.
Tensor gradient_of(const Pass& pass, Form form) {
  const Tensor& g = pass.gradient;
  if (form != Form::relu_pool) return g;
  return in_channels_last(g.slice(2, 0, (g.size(2) + 1) / 2).slice(3, 0, (g.size(3) + 1) / 2));
}

Tensor normalised_by_the_library(const Tensor& x, const models::BatchNormState& by) {
  return at::batch_norm(x, by.weight, by.bias, by.running_mean, by.running_var, true,
                        models::kBatchNormMomentum, models::kBatchNormEpsilon, false);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const BatchNormCase& c) {
  return out << c.pictures << "x" << c.channels << "x" << c.height << "x" << c.width << " "
             << c.type;
}

Tensor in_channels_last(const Tensor& t) { return t.contiguous(at::MemoryFormat::ChannelsLast); }

Pass batch_norm_input(const BatchNormCase& c, double offset, c10::Device device) {
  at::manual_seed(11);
  const std::vector<std::int64_t> shape{c.pictures, c.channels, c.height, c.width};
  const auto some = [&] { return in_channels_last(at::randn(shape)).to(c.type); };
  Pass pass{
      .x =
          in_channels_last(at::randn(shape) + offset * at::randn({1, c.channels, 1, 1})).to(c.type),
      .shortcut = some(),
      .gradient = some(),
      .other = some()};
  // Every third channel is turned round.
  const Tensor sign = at::where(at::arange(c.channels) % 3 == 2, -1.0, 1.0).to(at::kFloat);
  const auto some_state = [&] {
    return models::BatchNormState{(at::rand({c.channels}) + 0.5) * sign,
                                  at::randn({c.channels}) * 0.5, at::randn({c.channels}),
                                  at::rand({c.channels}) + 0.5};
  };
  pass.state = some_state(), pass.state_of_shortcut = some_state();
  for (Tensor* t : pass.inputs()) *t = t->to(device);
  pass.gradient = pass.gradient.to(device), pass.other = pass.other.to(device);
  return pass;
}

Pass in_double(const Pass& in, Form form) {
  Pass p = in;
  p.gradient = p.gradient.to(at::kDouble), p.other = p.other.to(at::kDouble);
  for (Tensor* t : p.inputs()) *t = t->to(at::kDouble).clone();
  for (Tensor* t : p.learnt()) t->requires_grad_();
  Tensor y = normalised_by_the_library(p.x, p.state);
  if (joins(form)) {
    y = y + normalised_by_the_library(p.shortcut, p.state_of_shortcut);
  } else if (adds(form)) {
    y = y + p.shortcut;
  }
  if (form != Form::plain) y = y.relu();
  if (form == Form::relu_pool) y = at::max_pool2d(y, 3, 2, 1);
  y.backward(has_two_readers(form) ? p.gradient + p.other : gradient_of(p, form));
  p.y = y.detach();
  p.take_gradients();
  return p;
}

Pass fused(const Pass& in, Form form) {
  Pass p = in;
  for (Tensor* t : p.inputs()) *t = t->clone();
  for (Tensor* t : p.learnt()) t->requires_grad_();
  if (adds(form)) {
    const models::Forked y =
        joins(form)
            ? models::fused_batch_norm_join_relu(p.x, p.state, p.shortcut, p.state_of_shortcut)
            : models::fused_batch_norm_add_relu(p.x, p.shortcut, p.state);
    EXPECT_EQ(y.main.data_ptr(), y.shortcut.data_ptr());
    if (has_two_readers(form)) {
      torch::autograd::backward({y.main, y.shortcut}, {p.gradient, p.other});
    } else {
      y.main.backward(p.gradient);
    }
    p.y = y.main.detach();
  } else {
    const Tensor y = form == Form::relu        ? models::fused_batch_norm_relu(p.x, p.state)
                     : form == Form::relu_pool ? models::fused_batch_norm_relu_pool(p.x, p.state)
                                               : models::fused_batch_norm(p.x, p.state);
    y.backward(gradient_of(p, form));
    p.y = y.detach();
  }
  p.take_gradients();
  return p;
}

double distance_to(const Tensor& a, const Tensor& b) {
  return (a.to(at::kDouble) - b).norm().item<double>() / b.norm().item<double>();
}

void expect_near(const Pass& ours, const Pass& exact, double bound) {
  EXPECT_LT(distance_to(ours.y, exact.y), bound);
  EXPECT_LT(distance_to(ours.of_x, exact.of_x), bound);
  EXPECT_LT(distance_to(ours.of_weight, exact.of_weight), bound);
  EXPECT_LT(distance_to(ours.of_bias, exact.of_bias), bound);
  EXPECT_LT(distance_to(ours.state.running_mean, exact.state.running_mean), bound);
  EXPECT_LT(distance_to(ours.state.running_var, exact.state.running_var), bound);
  if (exact.of_shortcut.defined()) {
    EXPECT_LT(distance_to(ours.of_shortcut, exact.of_shortcut), bound);
  }
  ASSERT_EQ(ours.of_shortcuts_weight.defined(), exact.of_shortcuts_weight.defined());
  if (exact.of_shortcuts_weight.defined()) {
    EXPECT_LT(distance_to(ours.of_shortcuts_weight, exact.of_shortcuts_weight), bound);
    EXPECT_LT(distance_to(ours.of_shortcuts_bias, exact.of_shortcuts_bias), bound);
    EXPECT_LT(
        distance_to(ours.state_of_shortcut.running_mean, exact.state_of_shortcut.running_mean),
        bound);
    EXPECT_LT(distance_to(ours.state_of_shortcut.running_var, exact.state_of_shortcut.running_var),
              bound);
  }
}

}  // namespace feedrate::tests
