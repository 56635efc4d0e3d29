#pragma once
#include <torch/nn/module.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <array>
#include <memory>
#include <span>
#include <string_view>

#include "models/batch_norm.h"

namespace feedrate::models {

enum class BlockKind {
  basic,       // 3x3, 3x3
  bottleneck,  // 1x1 to a quarter of the channels, 3x3, 1x1 back
};

// One column of the paper's table 1 (He et al. 2015, "Deep Residual Learning for Image
// Recognition").
struct ResNetConfig {
  std::string_view name;
  BlockKind block;
  std::array<int, 4> blocks;  // in conv2_x ... conv5_x, which torchvision names layer1 ... layer4
};

// resnet18, resnet34, resnet50, resnet101, resnet152.
std::span<const ResNetConfig> resnet_configs();

struct ResNetStage;  // residual blocks of one width, in resnet.cpp

// ResNet v1.5: where a bottleneck halves the picture, its 3x3 convolution has the stride (v1: the
// first 1x1). Same graph, names, initial values and random numbers as torchvision.models.resnet*,
// so either's state dict fits the other. Works in NCHW and channels_last; the activations follow
// the weights and the input. Like every torch module, for one thread at a time.
class ResNetImpl : public torch::nn::Module {
 public:
  ResNetImpl(const ResNetConfig& config, int classes);

  // Takes (N, 3, H, W) normalised pictures of any size, or what space_to_depth() has made of them;
  // returns the logits, (N, classes). Errors: feedrate::Error in training mode for one picture of
  // at most 32 x 32 pixels (see BatchNorm).
  at::Tensor forward(const at::Tensor& images);

  // What forward averages over: (N, 512 or 2048, ceil(H / 32), ceil(W / 32)).
  at::Tensor features(const at::Tensor& images);

 private:
  torch::nn::Conv2d conv1_;
  BatchNorm bn1_;
  std::array<std::shared_ptr<ResNetStage>, 4> layers_;
  torch::nn::Linear fc_;
};
TORCH_MODULE(ResNet);

// A new network on the CPU in fp32 and training mode, initialised from torch's default generator.
// Errors: UsageError for an unknown name (lists the names) and for fewer than one class.
ResNet make_resnet(std::string_view name, int classes = 1000);

// How all its batch normalisations run from now on; made as BatchNormKind::library.
void use_batch_norm(torch::nn::Module& module, BatchNormKind kind);

// Starts each residual block with so large a part beside its shortcut: fills the weights of the
// batch normalisation in front of the addition, which are 1 in a new network. Goyal et al. 2017
// ("Accurate, Large Minibatch SGD") start with 0.
void set_residual_scale(torch::nn::Module& module, double scale);

// Lays every convolution's weights out as N, H, W, C, for which cuDNN has its fastest 16-bit
// kernels. To be called before the optimiser and any gradient reducer are made, as these copy the
// weights' strides. The input should be in channels_last as well.
void to_channels_last(torch::nn::Module& module);

}  // namespace feedrate::models
