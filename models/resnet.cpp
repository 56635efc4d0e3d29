#include "models/resnet.h"

#include <torch/nn/init.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "models/space_to_depth.h"

namespace feedrate::models {

using at::Tensor;
using torch::nn::Conv2d;
using torch::nn::Conv2dOptions;

namespace {

constexpr std::array<ResNetConfig, 5> configs{{
    {"resnet18", BlockKind::basic, {2, 2, 2, 2}},
    {"resnet34", BlockKind::basic, {3, 4, 6, 3}},
    {"resnet50", BlockKind::bottleneck, {3, 4, 6, 3}},
    {"resnet101", BlockKind::bottleneck, {3, 4, 23, 3}},
    {"resnet152", BlockKind::bottleneck, {3, 8, 36, 3}},
}};

// No bias: the batch normalisation behind it would take it away again.
Conv2d conv(int in, int out, int kernel, int stride) {
  return Conv2d(Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

}  // namespace

// The shortcut where a block changes the shape: a 1x1 convolution (the paper's option B).
struct ResNetProjection : torch::nn::Module {
  ResNetProjection(int in, int out, int stride)
      : conv0(register_module("0", conv(in, out, 1, stride))),
        bn1(register_module("1", BatchNorm(out))) {}

  Conv2d conv0;
  BatchNorm bn1;
};

struct ResNetBlock : torch::nn::Module {
  // The projection is made first and registered last: both orders are torchvision's, of random
  // numbers and of parameters.
  ResNetBlock(int in, int out, int stride) {
    if (stride != 1 || in != out) projection = std::make_shared<ResNetProjection>(in, out, stride);
  }
  virtual Forked forward(const Forked& x) = 0;
  virtual BatchNorm& last_norm() = 0;  // in front of the addition

  // relu(last_norm(y) + shortcut)
  Forked joined(const Tensor& y, const Tensor& x) {
    if (!projection) return last_norm()->forward_add_relu(y, x);
    return last_norm()->forward_join_relu(y, projection->conv0->forward(x), *projection->bn1);
  }

  std::shared_ptr<ResNetProjection> projection;  // null: the identity
};

namespace {

struct BasicBlock : ResNetBlock {
  static constexpr int expansion = 1;

  BasicBlock(int in, int width, int stride)
      : ResNetBlock(in, width, stride),
        conv1(register_module("conv1", conv(in, width, 3, stride))),
        bn1(register_module("bn1", BatchNorm(width))),
        conv2(register_module("conv2", conv(width, width, 3, 1))),
        bn2(register_module("bn2", BatchNorm(width))) {
    if (projection) register_module("downsample", projection);
  }

  Forked forward(const Forked& x) override {
    Tensor y = bn1->forward_relu(conv1->forward(x.main));
    y = conv2->forward(y);
    return joined(y, x.shortcut);
  }
  BatchNorm& last_norm() override { return bn2; }

  Conv2d conv1;
  BatchNorm bn1;
  Conv2d conv2;
  BatchNorm bn2;
};

struct Bottleneck : ResNetBlock {
  static constexpr int expansion = 4;

  Bottleneck(int in, int width, int stride)
      : ResNetBlock(in, width * expansion, stride),
        conv1(register_module("conv1", conv(in, width, 1, 1))),
        bn1(register_module("bn1", BatchNorm(width))),
        conv2(register_module("conv2", conv(width, width, 3, stride))),  // v1.5: the stride is here
        bn2(register_module("bn2", BatchNorm(width))),
        conv3(register_module("conv3", conv(width, width * expansion, 1, 1))),
        bn3(register_module("bn3", BatchNorm(width * expansion))) {
    if (projection) register_module("downsample", projection);
  }

  Forked forward(const Forked& x) override {
    Tensor y = bn1->forward_relu(conv1->forward(x.main));
    y = bn2->forward_relu(conv2->forward(y));
    y = conv3->forward(y);
    return joined(y, x.shortcut);
  }
  BatchNorm& last_norm() override { return bn3; }

  Conv2d conv1;
  BatchNorm bn1;
  Conv2d conv2;
  BatchNorm bn2;
  Conv2d conv3;
  BatchNorm bn3;
};

}  // namespace

struct ResNetStage : torch::nn::Module {
  Forked forward(Forked x) {
    for (const auto& block : blocks) x = block->forward(x);
    return x;
  }

  std::vector<std::shared_ptr<ResNetBlock>> blocks;
};

namespace {

// The first block takes `in` channels and has the stride; the others keep the shape.
template <typename BlockType>
std::shared_ptr<ResNetStage> make_stage(int in, int width, int blocks, int stride) {
  auto stage = std::make_shared<ResNetStage>();
  for (int i = 0; i < blocks; ++i) {
    auto block = i == 0 ? std::make_shared<BlockType>(in, width, stride)
                        : std::make_shared<BlockType>(width * BlockType::expansion, width, 1);
    stage->blocks.push_back(stage->register_module(std::to_string(i), std::move(block)));
  }
  return stage;
}

// conv2_x ... conv5_x: the width doubles where the picture halves; the max pool in front of the
// first has halved it already.
template <typename BlockType>
std::array<std::shared_ptr<ResNetStage>, 4> make_stages(const std::array<int, 4>& blocks) {
  constexpr int e = BlockType::expansion;
  return {make_stage<BlockType>(64, 64, blocks[0], 1),
          make_stage<BlockType>(64 * e, 128, blocks[1], 2),
          make_stage<BlockType>(128 * e, 256, blocks[2], 2),
          make_stage<BlockType>(256 * e, 512, blocks[3], 2)};
}

// The mean over a picture, (N, C). Over pixels side by side the gradient comes in their order; that
// of the library's pooling does not, and is copied.
Tensor average_of(const Tensor& x) {
  if (x.is_contiguous(at::MemoryFormat::ChannelsLast))
    return x.permute({0, 2, 3, 1}).flatten(1, 2).mean(1);
  return at::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
}

// He et al. 2015, "Delving Deep into Rectifiers": the variance of the gradients is kept. The batch
// norms start as the identity, the classifier as torch::nn::Linear does.
void initialise(torch::nn::Module& network) {
  for (const auto& module : network.modules(/*include_self=*/false)) {
    if (auto* convolution = module->as<torch::nn::Conv2d>()) {
      torch::nn::init::kaiming_normal_(convolution->weight, 0, torch::kFanOut, torch::kReLU);
    }
  }
}

}  // namespace

ResNetImpl::ResNetImpl(const ResNetConfig& config, int classes)
    : conv1_(register_module("conv1", conv(3, 64, 7, 2))),
      bn1_(register_module("bn1", BatchNorm(64))),
      layers_(config.block == BlockKind::basic ? make_stages<BasicBlock>(config.blocks)
                                               : make_stages<Bottleneck>(config.blocks)),
      fc_(nullptr) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    register_module("layer" + std::to_string(i + 1), layers_[i]);
  }
  const int channels = config.block == BlockKind::basic ? 512 : 2048;
  fc_ = register_module("fc", torch::nn::Linear(channels, classes));
  initialise(*this);
}

Tensor ResNetImpl::features(const Tensor& images) {
  Tensor x =
      is_space_to_depth(images) ? convolve_blocks(images, conv1_->weight) : conv1_->forward(images);
  x = bn1_->forward_relu_pool(x);
  Forked forked{x, x};
  for (const auto& layer : layers_) forked = layer->forward(forked);
  return forked.main;
}

Tensor ResNetImpl::forward(const Tensor& images) {
  return fc_->forward(average_of(features(images)));
}

std::span<const ResNetConfig> resnet_configs() { return configs; }

ResNet make_resnet(std::string_view name, int classes) {
  if (classes < 1) {
    throw UsageError("model " + std::string(name),
                     "cannot have " + std::to_string(classes) + " classes", "give at least 1");
  }
  const auto config = std::ranges::find(configs, name, &ResNetConfig::name);
  if (config != configs.end()) return ResNet(*config, classes);
  throw UsageError("model " + std::string(name), "there is no such model",
                   "use one of " + listed(configs, &ResNetConfig::name));
}

void use_batch_norm(torch::nn::Module& module, BatchNormKind kind) {
  for (const auto& inner : module.modules()) {
    if (auto* norm = inner->as<BatchNorm>()) norm->set_kind(kind);
  }
}

void set_residual_scale(torch::nn::Module& module, double scale) {
  const at::NoGradGuard no_grad;
  for (const auto& inner : module.modules()) {
    if (auto* block = inner->as<ResNetBlock>())
      block->last_norm()->named_parameters()["weight"].fill_(scale);
  }
}

void to_channels_last(torch::nn::Module& module) {
  for (auto& parameter : module.parameters()) {
    if (parameter.dim() != 4) continue;
    // A new tensor rather than contiguous(ChannelsLast): 1x1 kernels fit both layouts and would
    // keep their strides, and then differ from their gradients'.
    const Tensor weight = parameter.detach();
    const Tensor relaid = at::empty_like(weight, weight.options(), at::MemoryFormat::ChannelsLast);
    parameter.set_data(relaid.copy_(weight));
  }
}

}  // namespace feedrate::models
