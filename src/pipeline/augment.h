#pragma once
#include <cstdint>

#include "codec/image.h"
#include "pipeline/random.h"

namespace feedrate {

// What is done to one picture; drawn before anything of it is decoded.
struct Augmentation {
  Rect window;        // of the stored picture
  bool flip = false;  // left-right, after the resize
};

// torchvision's RandomResizedCrop(scale=(0.08, 1), ratio=(3/4, 4/3)) followed by RandomHorizontalFlip:
// the same distribution, from one seed.
Augmentation random_resized_crop(PixelSize picture, std::uint64_t seed);

}  // namespace feedrate
