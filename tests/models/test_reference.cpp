// The proof that the C++ networks are torchvision's: every figure of
// models/reference/expected.json.
#include <gtest/gtest.h>
#include <torch/optim/sgd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formula.h"
#include "models/resnet.h"

namespace feedrate::tests {
namespace {

using at::Tensor;
using nlohmann::json;

const json& reference() {
  static const json read = json::parse(std::ifstream(FEEDRATE_REFERENCE));
  return read;
}

template <typename Items>
std::vector<double> norms(const Items& items) {
  std::vector<double> result;
  for (const Tensor& item : items) {
    result.push_back(item.detach().to(at::kDouble).norm().template item<double>());
  }
  return result;
}

std::vector<Tensor> running_statistics(const torch::nn::Module& model) {
  std::vector<Tensor> result;
  for (const auto& item : model.named_buffers()) {
    if (!item.key().ends_with("num_batches_tracked")) result.push_back(item.value());
  }
  return result;
}

// Every class_stride-th logit of each picture.
std::vector<double> sampled(const Tensor& logits) {
  const auto stride = reference()["class_stride"].get<std::int64_t>();
  const Tensor kept =
      logits.detach().slice(1, 0, logits.size(1), stride).to(at::kDouble).contiguous();
  return {kept.data_ptr<double>(), kept.data_ptr<double>() + kept.numel()};
}

// Largest relative difference. Logits are divided by the largest logit. Norms are divided by their
// own value, but at least by a ten-thousandth of the largest norm (gradients that vanish are
// rounding).
double difference(const std::string& key, const std::vector<double>& got,
                  const std::vector<double>& expected) {
  if (got.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!std::isfinite(got[i])) return std::numeric_limits<double>::infinity();
    const double scale = key.find("logits") != std::string::npos
                             ? largest
                             : std::max(std::abs(expected[i]), 1e-4 * largest);
    worst = std::max(worst, std::abs(got[i] - expected[i]) / scale);
  }
  return worst;
}

// One training step between two evaluations, as make_reference.py's `run` makes it.
std::map<std::string, std::vector<double>> run(const json& expected, at::ScalarType dtype) {
  models::ResNet model = models::make_resnet(expected["model"].get<std::string>());
  formula::fill(*model);
  model->to(dtype);
  const auto count = expected["pictures"].get<std::int64_t>();
  const Tensor images = formula::pictures(count, expected["pixels"].get<std::int64_t>()).to(dtype);
  const auto evaluate = [&] {
    const at::NoGradGuard no_grad;
    model->eval();
    return sampled(model->forward(images));
  };

  std::map<std::string, std::vector<double>> result;
  result["eval_logits_before"] = evaluate();
  const auto& sgd = reference()["sgd"];
  torch::optim::SGD optimiser(model->parameters(),
                              torch::optim::SGDOptions(sgd["lr"].get<double>())
                                  .momentum(sgd["momentum"].get<double>())
                                  .weight_decay(sgd["weight_decay"].get<double>()));
  model->train();
  const Tensor logits = model->forward(images);
  const Tensor loss = at::cross_entropy_loss(logits, formula::labels(count));
  loss.backward();
  optimiser.step();
  result["train_logits"] = sampled(logits);
  result["loss"] = {loss.item<double>()};
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : model->parameters()) gradients.push_back(parameter.grad());
  result["gradient_norms"] = norms(gradients);
  result["parameter_norms_after"] = norms(model->parameters());
  result["running_norms_after"] = norms(running_statistics(*model));
  result["eval_logits_after"] = evaluate();
  return result;
}

void compare(const json& expected, at::ScalarType dtype, double tolerance) {
  for (const auto& [key, got] : run(expected, dtype)) {
    if (dtype == at::kFloat && key == "gradient_norms" && !expected["gradients_in_fp32"]) continue;
    const double worst = difference(key, got, expected.at(key).get<std::vector<double>>());
    EXPECT_LT(worst, tolerance) << key;
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%.1e", worst);
    ::testing::Test::RecordProperty(key, text.data());  // read it with --gtest_output=xml
  }
}

// Where this fails, the formula and not the network is at fault.
TEST(Formula, GivesTheReferencesNumbers) {
  for (const auto& [name, expected] : reference()["formula"].items()) {
    const Tensor u = formula::uniform(name, {8});
    for (int i = 0; i < 8; ++i) EXPECT_EQ(u[i].item<double>(), expected[i].get<double>()) << name;
  }
}

class Reference : public ::testing::TestWithParam<int> {
 protected:
  const json& expected() const {
    return reference()["cases"][static_cast<std::size_t>(GetParam())];
  }
};

TEST_P(Reference, IsTorchvisionInFp32) { compare(expected(), at::kFloat, 1e-4); }

TEST_P(Reference, IsTorchvisionInFp64) { compare(expected(), at::kDouble, 1e-9); }

// "resnet50_224px"
std::string case_name(const ::testing::TestParamInfo<int>& tested) {
  const json& expected = reference()["cases"][static_cast<std::size_t>(tested.param)];
  return expected["model"].get<std::string>() + "_" + expected["pixels"].dump() + "px";
}

INSTANTIATE_TEST_SUITE_P(Cases, Reference,
                         ::testing::Range(0, static_cast<int>(reference()["cases"].size())),
                         case_name);

class Description : public ::testing::TestWithParam<std::string> {
 protected:
  const json& expected() const { return reference()["models"][GetParam()]; }
};

template <typename Dictionary>
json names_and_shapes(const Dictionary& items) {
  json result = json::array();
  for (const auto& item : items) result.push_back({item.key(), item.value().sizes().vec()});
  return result;
}

TEST_P(Description, NamesAndShapesAreTorchvisionsInOrder) {
  const models::ResNet model = models::make_resnet(GetParam());
  EXPECT_EQ(names_and_shapes(model->named_parameters()), expected()["parameters"]);
  EXPECT_EQ(names_and_shapes(model->named_buffers()), expected()["buffers"]);
  std::int64_t count = 0;
  for (const Tensor& parameter : model->parameters()) count += parameter.numel();
  EXPECT_EQ(count, expected()["parameter_count"].get<std::int64_t>());
}

// Not the distribution alone: the same random numbers reach the same weights.
TEST_P(Description, InitialValuesAreTorchvisions) {
  torch::manual_seed(0);
  const models::ResNet model = models::make_resnet(GetParam());
  const auto initial = expected()["initial_norms_seed_0"].get<std::vector<double>>();
  EXPECT_LT(difference("norms", norms(model->parameters()), initial), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Models, Description,
                         ::testing::Values("resnet18", "resnet34", "resnet50", "resnet101",
                                           "resnet152"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace feedrate::tests
