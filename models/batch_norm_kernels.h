#pragma once
#include <ATen/core/Tensor.h>

namespace feedrate::models {

// A batch normalisation's parameters and running statistics: fp32, (C) each. Tensors are handles:
// whoever changes the running ones changes the module's.
struct BatchNormState {
  at::Tensor weight, bias, running_mean, running_var;
};

// torchvision's.
inline constexpr double kBatchNormMomentum = 0.1;
inline constexpr double kBatchNormEpsilon = 1e-5;

// An input that is normalised, and by what.
struct Normalised {
  at::Tensor x;
  // (4, C), fp32: the batch's mean, and 1 / sqrt(biased variance + epsilon); scale and shift of
  // y = x * scale + shift.
  at::Tensor by;
};

// What a forward pass leaves for the backward one.
struct BatchNormSaved {
  Normalised main;
  Normalised shortcut;  // its tensors are undefined unless the shortcut is normalised
  at::Tensor
      passed;  // with a shortcut: where the sum was above zero (bytes or bits, the kernels' own)
  // With a pooling, like its output: the x that each value was made of, and where it lay in its
  // window (bytes, the kernels' own).
  at::Tensor chosen, where;
  bool relu = false;
};

struct InputGradients {
  at::Tensor main, shortcut;  // the latter only where it was normalised
};

// Batch normalisation in training mode over channels_last memory, together with what follows it:
// read as rows x channels, the number of passes over memory is the cost (Ioffe and Szegedy 2015;
// the backward formulas are those of its section 3). Activations are all of one type and shape, (N,
// C, H, W) in channels_last; statistics, sums and parameters are fp32. Each function is for one
// thread at a time; on CUDA it queues on the current stream.
struct BatchNormKernels {
  // Whether these kernels take tensors of this type and number of channels.
  bool (*takes)(at::ScalarType type, std::int64_t channels);
  // One pass over x: fills `by`, and moves the running statistics (variance unbiased, as torch's).
  void (*statistics)(Normalised& of, const BatchNormState& state);
  // One pass: the normalised x, plus the normalised saved.shortcut or else `shortcut`, if defined,
  // cut at zero if relu. Fills saved.passed if there is a shortcut.
  at::Tensor (*normalise)(BatchNormSaved& saved, const at::Tensor& shortcut);
  // One pass: the normalised x, cut at zero, its largest values in windows of 3x3 with stride 2 and
  // padding 1. Fills saved.chosen and saved.where.
  at::Tensor (*normalise_and_pool)(BatchNormSaved& saved);
  // One pass: (1, 4, C): the gradients of bias and of weight, and what input_gradients() adds for
  // them: constant and slope over x - mean; (2, 4, C) with those of saved.shortcut. `gradient` is
  // that of the output; `other` (may be undefined) is added to it.
  // With saved.passed, `through` becomes what is left of it behind the ReLU: the gradient of what
  // was added.
  at::Tensor (*reduce)(const BatchNormSaved& saved, const at::Tensor& gradient,
                       const at::Tensor& other, at::Tensor& through);
  // One pass: the gradients of main.x and of shortcut.x, from the output's (behind the ReLU where
  // there was a shortcut) and reduce()'s sums.
  InputGradients (*input_gradients)(const BatchNormSaved& saved, const at::Tensor& gradient,
                                    const at::Tensor& sums);
};

// Null where there are none for this kind of device.
const BatchNormKernels* batch_norm_kernels(c10::DeviceType device);

const BatchNormKernels* cuda_batch_norm();  // null in a build without CUDA
// The same kernels, one thread of them after the other: they show what the GPU's compute, and are
// too slow to train by.
const BatchNormKernels* host_batch_norm();

}  // namespace feedrate::models
