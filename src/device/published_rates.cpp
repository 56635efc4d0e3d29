#include "device/published_rates.h"

namespace feedrate::device {
namespace {

// Where each figure can be looked up again. All are of ResNet-50 v1.5 at 224x224 on ImageNet.
constexpr std::string_view kMlperf =
    "MLPerf Training, closed division, NVIDIA's MXNet, fp16, 8 GPUs / 8: "
    "mlcommons.org/benchmarks/training";
constexpr std::string_view kProduct =
    "NVIDIA Deep Learning Product Performance, PyTorch, mixed precision, 1 GPU: "
    "developer.nvidia.com/deep-learning-performance-training-inference/training";
constexpr std::string_view kExamples =
    "NVIDIA DeepLearningExamples, PyTorch 21.03 container, DGX A100 80GB, mixed precision, 1 GPU: "
    "github.com/NVIDIA/DeepLearningExamples, PyTorch/Classification/ConvNets/resnet50v1.5";
constexpr std::string_view kMxnet =
    "NVIDIA Deep Learning Product Performance, MXNet, mixed precision, 1 GPU: "
    "developer.nvidia.com/deep-learning-performance-training-inference/training";
constexpr std::string_view kFeedrate =
    "feedrate on an H200, bf16, batch 256, step as a graph (results/reference/h200)";

constexpr std::string_view kOfPytorch = "PyTorch's published", kOfMlperf = "MLPerf's",
                           kOfMxnet = "MXNet's published", kOfFeedrate = "feedrate's own";

constexpr PublishedRate kRates[] = {
    {"h200", "NVIDIA H200", kOfPytorch, 3079, kPcie5, kProduct},
    {"h200-mlperf", "NVIDIA H200", kOfMlperf, 7950, kPcie5, kMlperf},
    {"h200-feedrate", "NVIDIA H200", kOfFeedrate, 7490, kPcie5, kFeedrate},
    {"h100", "NVIDIA H100", kOfPytorch, 2790, kPcie5, kProduct},
    {"h100-mlperf", "NVIDIA H100", kOfMlperf, 7162, kPcie5, kMlperf},
    {"a100", "NVIDIA A100", kOfPytorch, 2470, kPcie4, kExamples},
    {"a100-mxnet", "NVIDIA A100", kOfMxnet, 3410, kPcie4, kMxnet},
    {"v100", "NVIDIA V100", kOfPytorch, 1376, kPcie3, kProduct},
};

}  // namespace

std::span<const PublishedRate> published_rates() { return kRates; }

}  // namespace feedrate::device
