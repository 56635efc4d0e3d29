#pragma once
#include <optional>

#include "device/accelerator.h"
#include "models/space_to_depth.h"
#include "train/batch_augment.h"
#include "train/batch_mask.h"
#include "train/normalise.h"

namespace feedrate::train {

// Pixels that the network sees: a device that augments takes others from the host.
inline codec::PixelSize input_size(const device::StepSpec& spec) {
  return spec.augmentation ? spec.augmentation->output : spec.batch.size;
}

// Normalised pictures, (N, 3, H, W) in channels_last, as the run's network takes them: in the
// memory format of its weights, and in blocks where it reads these.
inline at::Tensor as_input(const at::Tensor& images, const device::StepOptions& options) {
  if (options.space_to_depth) return models::space_to_depth(images);
  return options.channels_last ? images : images.contiguous();
}

// What a device makes of a batch before its step: augments it where the run asks for that, and
// normalises it.
class InputMaker {
 public:
  InputMaker(const device::StepSpec& spec, c10::Device device, at::ScalarType to)
      : step_(spec.step), normalise_(device, to, spec.batch.normalisation) {
    if (!spec.augmentation) return;
    if (spec.augmentation->mask_colour != pipeline::MaskColour::none) {
      mask_.emplace(device, *spec.augmentation);
    } else {
      augment_.emplace(device, *spec.augmentation);
    }
  }

  // What operator() needs to know of a batch beside its pixels; an undefined tensor where nothing.
  at::Tensor parameters(const pipeline::HostBatch& batch) const {
    if (mask_) return mask_->parameters(batch.augmentations);
    return augment_ ? augment_->parameters(batch.augmentations) : at::Tensor();
  }
  // `nhwc`: the batch's pixels on the device. Returns the network's input, sharing nothing with it.
  at::Tensor operator()(const at::Tensor& nhwc, const at::Tensor& parameters) const {
    const at::Tensor ready = augmented(nhwc, parameters);
    if (step_.space_to_depth) {
      if (const at::Tensor blocks = normalise_.space_to_depth(ready); blocks.defined())
        return blocks;
    }
    return as_input(normalise_(ready), step_);
  }

 private:
  at::Tensor augmented(const at::Tensor& nhwc, const at::Tensor& parameters) const {
    if (mask_) return (*mask_)(nhwc, parameters);
    return augment_ ? (*augment_)(nhwc, parameters) : nhwc;
  }

  const device::StepOptions step_;
  const Normaliser normalise_;
  std::optional<BatchAugmenter> augment_;
  std::optional<BatchMask> mask_;
};

}  // namespace feedrate::train
