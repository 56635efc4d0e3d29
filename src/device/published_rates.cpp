#include <charconv>
#include <cmath>
#include <limits>

#include "device/emulated.h"
#include "measure/error.h"

namespace feedrate {
namespace {

constexpr double kPcie3 = 12e9, kPcie4 = 25e9, kPcie5 = 50e9;  // x16, page-locked, bytes/s as reached

constexpr double kLeastRate = 0.01;  // images/s; below it a step takes longer than anybody waits

// Where each figure can be looked up again. All are of ResNet-50 v1.5 at 224x224 on ImageNet.
constexpr std::string_view kMlperf =
    "MLPerf Training, closed division, NVIDIA's MXNet, fp16, 8 GPUs / 8: mlcommons.org/benchmarks/training";
constexpr std::string_view kProduct =
    "NVIDIA Deep Learning Product Performance, PyTorch, mixed precision, 1 GPU: "
    "developer.nvidia.com/deep-learning-performance-training-inference/training";
constexpr std::string_view kExamples =
    "NVIDIA DeepLearningExamples, PyTorch 21.03 container, DGX A100 80GB, mixed precision, 1 GPU: "
    "github.com/NVIDIA/DeepLearningExamples, PyTorch/Classification/ConvNets/resnet50v1.5";
constexpr std::string_view kMxnet =
    "NVIDIA Deep Learning Product Performance, MXNet, mixed precision, 1 GPU: "
    "developer.nvidia.com/deep-learning-performance-training-inference/training";
constexpr PublishedRate kRates[] = {
    {"h200", "NVIDIA H200", 3079, kPcie5, kProduct},
    {"h200-mlperf", "NVIDIA H200", 7950, kPcie5, kMlperf},
    {"h100", "NVIDIA H100", 2790, kPcie5, kProduct},
    {"h100-mlperf", "NVIDIA H100", 7162, kPcie5, kMlperf},
    {"a100", "NVIDIA A100", 2470, kPcie4, kExamples},
    {"a100-mxnet", "NVIDIA A100", 3410, kPcie4, kMxnet},
    {"v100", "NVIDIA V100", 1376, kPcie3, kProduct},
};

std::string known_names() {
  std::string names;
  for (const PublishedRate& rate : kRates) names.append(names.empty() ? "" : ", ").append(rate.name);
  return names;
}

}  // namespace

std::span<const PublishedRate> published_rates() { return kRates; }

EmulatedDevice emulated_device(std::string_view argument, const StepSpec& spec) {
  for (const PublishedRate& rate : kRates) {
    if (rate.name != argument) continue;
    if (spec.model != "resnet50") {
      throw UsageError("--device emulated:" + std::string(argument), "has a published rate for resnet50 only",
                       "use --model resnet50, or give the rate: emulated:IMGS_PER_S");
    }
    const auto [width, height] = spec.batch.size;
    const std::string size = std::to_string(width) + "x" + std::to_string(height);
    if (width * height < kLeastScaled * kLeastScaled) {
      throw UsageError("--device emulated:" + std::string(argument),
                       "has a published rate for 224x224, which says nothing of inputs of " + size,
                       "use a larger --input-size, or give the rate: emulated:IMGS_PER_S");
    }
    EmulatedDevice device{std::string(rate.device) + " (EMULATED)", rate.imgs_per_s, rate.bus_bytes_per_s,
                          std::string(rate.source), "mixed precision", ""};
    if (width * height == 224 * 224) return device;
    device.imgs_per_s *= 224.0 * 224 / (static_cast<double>(width) * height);
    device.caveat = "scaled by the number of pixels from " + std::to_string(std::lround(rate.imgs_per_s)) +
                    " images/s, published for 224x224, to " + size;
    return device;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(argument.data(), argument.data() + argument.size(), number);
  if (error != std::errc{} || end != argument.data() + argument.size() || !(number >= kLeastRate)) {
    throw UsageError("--device emulated:" + std::string(argument), "is neither a known device nor images per second",
                     "use one of " + known_names() + ", or a rate such as emulated:500");
  }
  return {std::string(argument) + " img/s (EMULATED)", number, kPcie4, "given on the command line", "", ""};
}

}  // namespace feedrate
