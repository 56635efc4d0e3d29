#pragma once
#include <cstdint>

#include "base/random.h"
#include "codec/image.h"

namespace feedrate::pipeline {

// Factors of torchvision's ColorJitter; 1 leaves a picture as it is. jitter.h applies them.
struct ColourJitter {
  float brightness = 1, contrast = 1, saturation = 1;
  bool operator==(const ColourJitter&) const = default;
};

// What is done to one picture; drawn before anything of it is decoded.
struct Augmentation {
  codec::Rect window;  // of the stored picture
  bool flip = false;   // left-right, after the resize
  ColourJitter jitter{};
};

// What is drawn for each picture.
struct AugmentPolicy {
  bool crop_and_flip = true;  // false: the whole picture, resized
  bool jitter = false;        // brightness, contrast and saturation by 0.6 to 1.4 each
};
Augmentation draw_augmentation(const AugmentPolicy& policy, codec::PixelSize picture,
                               std::uint64_t seed);

// torchvision's RandomResizedCrop(scale=(0.08, 1), ratio=(3/4, 4/3)) followed by
// RandomHorizontalFlip: the same distribution, from one seed.
Augmentation random_resized_crop(codec::PixelSize picture, std::uint64_t seed);

// The factors of ColorJitter(brightness=0.4, contrast=0.4, saturation=0.4), from the same seed;
// they do not change the crop. Always in this order, which torchvision draws too.
ColourJitter random_jitter(std::uint64_t seed);

}  // namespace feedrate::pipeline
