#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "models/fused_batch_norm.h"
#include "models/resnet.h"

// The GPU's kernels, run block by block and thread by thread on the CPU, against the definition in
// fp64.
namespace feedrate::tests {
namespace {

using at::Tensor;

struct BatchNormCase {
  std::int64_t pictures, channels, height, width;
  at::ScalarType type = at::kFloat;
};

std::ostream& operator<<(std::ostream& out, const BatchNormCase& c) {
  return out << c.pictures << "x" << c.channels << "x" << c.height << "x" << c.width << " "
             << c.type;
}

// join: the shortcut is normalised, too; once: the sum has one reader.
enum class Form { plain, relu, relu_pool, add_relu, add_relu_once, join_relu, join_relu_once };

bool joins(Form form) { return form == Form::join_relu || form == Form::join_relu_once; }
bool adds(Form form) {
  return form == Form::add_relu || form == Form::add_relu_once || joins(form);
}
bool has_two_readers(Form form) { return form == Form::add_relu || form == Form::join_relu; }

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

Tensor in_channels_last(const Tensor& t) { return t.contiguous(at::MemoryFormat::ChannelsLast); }

Pass some_input(const BatchNormCase& c, double offset = 0.3) {
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
  return pass;
}

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

// The definition, by the library's operations one after the other, in double precision.
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

// `bound` is a share of each result's norm: a single value may differ where rounding turns a ReLU
// whose input is near zero.
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

class FusedBatchNorm : public ::testing::TestWithParam<BatchNormCase> {};

TEST_P(FusedBatchNorm, IsTheStepsOneByOneInDouble) {
  const Pass in = some_input(GetParam());
  ASSERT_TRUE(models::fits_fused_batch_norm(in.x));
  const double bound = GetParam().type == at::kFloat  ? 2e-6
                       : GetParam().type == at::kHalf ? 1e-3
                                                      : 6e-3;
  for (const Form form : {Form::plain, Form::relu, Form::relu_pool, Form::add_relu,
                          Form::add_relu_once, Form::join_relu, Form::join_relu_once}) {
    SCOPED_TRACE(static_cast<int>(form));
    expect_near(fused(in, form), in_double(in, form), bound);
  }
}

// Odd numbers of rows, packs and blocks, one row for a thread, and ResNet's own.
INSTANTIATE_TEST_SUITE_P(Shapes, FusedBatchNorm,
                         ::testing::Values(BatchNormCase{1, 4, 3, 3}, BatchNormCase{3, 20, 7, 3},
                                           BatchNormCase{5, 12, 1, 1}, BatchNormCase{5, 4, 31, 29},
                                           BatchNormCase{2, 64, 56, 56},
                                           BatchNormCase{2, 2048, 7, 7},
                                           BatchNormCase{3, 40, 9, 5, at::kBFloat16},
                                           BatchNormCase{2, 256, 14, 14, at::kBFloat16},
                                           BatchNormCase{5, 24, 9, 9, at::kHalf},
                                           BatchNormCase{2, 512, 7, 7, at::kHalf}));

TEST(FusedBatchNormNumbers, KeepTheVarianceWhereTheMeanIsLarge) {
  const Pass in = some_input({4, 8, 16, 16}, /*offset=*/1000);
  // A float near 1000 has 6e-5 between two values: 1e-4 of the deviation is lost in the input
  // already.
  expect_near(fused(in, Form::relu), in_double(in, Form::relu), 1e-4);
}

TEST(FusedBatchNormNumbers, DoNotDependOnChance) {
  const Pass in = some_input({3, 24, 11, 13});
  for (const Form form : {Form::add_relu, Form::join_relu}) {
    const Pass once = fused(in, form), again = fused(in, form);
    EXPECT_TRUE(at::equal(once.of_x, again.of_x));
    EXPECT_TRUE(at::equal(once.of_shortcut, again.of_shortcut));
    EXPECT_TRUE(at::equal(once.of_weight, again.of_weight));
  }
}

TEST(FusedBatchNormNumbers, KeepANaN) {
  Pass in = some_input({2, 8, 4, 4});
  in.x[1][3][2][2] = std::nanf("");
  for (const Form form : {Form::relu, Form::join_relu}) {
    const Pass out = fused(in, form);
    EXPECT_TRUE(out.y.select(1, 3).isnan().all().item<bool>());
    EXPECT_FALSE(out.y.select(1, 2).isnan().any().item<bool>());
  }
  std::swap(in.x, in.shortcut);
  const Pass out = fused(in, Form::join_relu);
  EXPECT_TRUE(out.y.select(1, 3).isnan().all().item<bool>());
  EXPECT_FALSE(out.y.select(1, 2).isnan().any().item<bool>());
}

// Of equal values the first is chosen, in 16 bits too, and one that rounding has made equal to a
// smaller one is still the larger.
TEST(FusedMaxPool, ChoosesTheLibrarysValue) {
  for (const at::ScalarType type : {at::kFloat, at::kHalf, at::kBFloat16}) {
    Pass in = some_input({2, 8, 9, 12, type});
    in.x = (in.x * 4).round();  // many are equal
    in.state.bias.fill_(20);    // none is cut
    const Pass ours = fused(in, Form::relu_pool), exact = in_double(in, Form::relu_pool);
    EXPECT_TRUE(
        at::equal(ours.y, at::max_pool2d(models::fused_batch_norm_relu(in.x, in.state), 3, 2, 1)))
        << type;
    EXPECT_TRUE(ours.y.is_contiguous(at::MemoryFormat::ChannelsLast));
    // A gradient that goes to another value would be off by its own size.
    const double furthest = (ours.of_x.to(at::kDouble) - exact.of_x).abs().max().item<double>();
    EXPECT_LT(furthest, 0.03) << type;
  }
}

TEST(FusedMaxPool, KeepsANaNInItsChannel) {
  Pass in = some_input({2, 8, 5, 5});
  in.x[1][3][2][2] = std::nanf("");
  const Pass out = fused(in, Form::relu_pool);
  EXPECT_TRUE(out.y.select(1, 3).isnan().all().item<bool>());
  EXPECT_TRUE(out.of_x.select(1, 3).isnan().all().item<bool>());
  EXPECT_FALSE(out.of_x.select(1, 2).isnan().any().item<bool>());
}

// A reader may be absent (the last block's shortcut), and a gradient may come in another layout.
TEST(FusedBatchNormGradients, ComeFromEitherReaderInAnyLayout) {
  const Pass in = some_input({2, 8, 5, 5});
  const auto gradient_of_x = [&](bool from_main, const Tensor& gradient) {
    const Tensor x = in.x.clone().requires_grad_();
    const models::Forked y = models::fused_batch_norm_add_relu(x, in.shortcut, in.state);
    (from_main ? y.main : y.shortcut).backward(gradient);
    return x.grad();
  };
  const Tensor expected = gradient_of_x(true, in.gradient);
  EXPECT_TRUE(at::equal(gradient_of_x(false, in.gradient), expected));
  EXPECT_TRUE(at::equal(gradient_of_x(true, in.gradient.contiguous()), expected));
  const Tensor flat = at::ones({2, 8, 1, 1}).expand({2, 8, 5, 5});
  EXPECT_TRUE(at::equal(gradient_of_x(true, flat),
                        gradient_of_x(true, in_channels_last(at::ones({2, 8, 5, 5})))));
}

TEST(FusedBatchNormFits, WhatItsKernelsTake) {
  const Tensor x = at::randn({2, 8, 4, 4});
  EXPECT_TRUE(models::fits_fused_batch_norm(in_channels_last(x)));
  EXPECT_FALSE(models::fits_fused_batch_norm(x)) << "the memory is not rows of channels";
  EXPECT_FALSE(models::fits_fused_batch_norm(in_channels_last(x).to(at::kDouble)));
  EXPECT_FALSE(models::fits_fused_batch_norm(at::randn({4, 8})));
}

// The gradients of every parameter of a network, in its order.
std::vector<Tensor> gradients(const char* name, at::ScalarType type, models::BatchNormKind kind) {
  at::manual_seed(4);
  models::ResNet model = models::make_resnet(name, 10);
  models::to_channels_last(*model);
  model->to(type);
  models::use_batch_norm(*model, kind);
  at::manual_seed(5);
  const Tensor images = in_channels_last(at::randn({8, 3, 64, 64})).to(type);
  at::cross_entropy_loss(model->forward(images), at::arange(8)).backward();
  std::vector<Tensor> all;
  for (const Tensor& parameter : model->parameters()) all.push_back(parameter.grad());
  return all;
}

// Rounding goes through dozens of layers, each with ReLUs that a last bit can turn: the library's
// own gradients in float say how far that takes one from those in double.
TEST(FusedBatchNormInAResNet, GivesGradientsAsGoodAsTheLibrarys) {
  for (const char* name : {"resnet18", "resnet50"}) {
    const auto exact = gradients(name, at::kDouble, models::BatchNormKind::library);
    const auto library = gradients(name, at::kFloat, models::BatchNormKind::library);
    const auto ours = gradients(name, at::kFloat, models::BatchNormKind::fused);
    double worst_library = 0, worst_ours = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      worst_library = std::max(worst_library, distance_to(library[i], exact[i]));
      worst_ours = std::max(worst_ours, distance_to(ours[i], exact[i]));
    }
    EXPECT_LT(worst_ours, std::max(2 * worst_library, 0.05)) << name;  // 0.05: a few turned ReLUs
  }
}

}  // namespace
}  // namespace feedrate::tests
