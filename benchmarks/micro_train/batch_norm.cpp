#include <ATen/Functions.h>
#include <benchmark/benchmark.h>
#include <torch/csrc/autograd/autograd.h>

#include <string>

#include "models/batch_norm.h"

namespace feedrate::micro {
namespace {

using at::Tensor;

// The places after a convolution in ResNet-50: channels and side of the activations for pictures of
// 224x224.
struct Place {
  int channels, side;
};
constexpr Place kPlaces[] = {{64, 112}, {64, 56},   {256, 56}, {512, 28},
                             {256, 14}, {1024, 14}, {2048, 7}};
constexpr int kPictures = 8;

Tensor some(const Place& place) {
  return at::randn({kPictures, place.channels, place.side, place.side})
      .contiguous(at::MemoryFormat::ChannelsLast);
}

// Forward and backward of relu(batch_norm(x) + shortcut), or without the shortcut. Bytes are those
// of x.
void forward_and_backward(benchmark::State& state, const Place& place, models::BatchNormKind kind,
                          bool add) {
  models::BatchNorm norm(place.channels);
  norm->set_kind(kind);
  const Tensor x = some(place).requires_grad_(), shortcut = some(place).requires_grad_(),
               gradient = some(place), other = some(place);
  for (auto _ : state) {
    if (add) {
      const models::Forked y = norm->forward_add_relu(x, shortcut);
      if (kind == models::BatchNormKind::fused) {
        torch::autograd::backward({y.main, y.shortcut}, {gradient, other});
      } else {
        y.main.backward(gradient + other);  // what autograd does with two readers
      }
    } else {
      norm->forward_relu(x).backward(gradient);
    }
    for (const Tensor& t : {x, shortcut}) t.mutable_grad().reset();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(x.nbytes()));
}

}  // namespace

void register_batch_norm() {
  for (const Place& place : kPlaces) {
    for (const bool add : {false, true}) {
      for (const auto& [name, kind] : {std::pair{"library", models::BatchNormKind::library},
                                       std::pair{"fused", models::BatchNormKind::fused}}) {
        const std::string title = std::string("batch_norm/") + (add ? "add_relu/" : "relu/") +
                                  std::to_string(place.channels) + "x" +
                                  std::to_string(place.side) + "/" + name;
        benchmark::RegisterBenchmark(
            title.c_str(),
            [=](benchmark::State& state) { forward_and_backward(state, place, kind, add); })
            ->Unit(benchmark::kMicrosecond)
            ->UseRealTime();
      }
    }
  }
}

}  // namespace feedrate::micro
