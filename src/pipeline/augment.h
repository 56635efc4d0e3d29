#pragma once
#include <cstdint>
#include <string_view>

#include "base/random.h"
#include "codec/image.h"

namespace feedrate::pipeline {

// Factors of torchvision's ColorJitter; 1 leaves a picture as it is. jitter.h applies them.
struct ColourJitter {
  float brightness = 1, contrast = 1, saturation = 1;
  bool operator==(const ColourJitter&) const = default;
};

// Whether pixels are masked and coloured (mask_colour.h), and when.
enum class MaskColour : std::uint8_t {
  none,
  cropped,  // those of the window
  whole     // those of the whole picture, before the window is taken: the same for more work
};
// Of a value of --augment; none for one that does neither.
MaskColour mask_colour_from(std::string_view augment);

// What is done to one picture; drawn before anything of it is decoded.
struct Augmentation {
  codec::Rect window;  // of the stored picture
  bool flip = false;   // left-right, after the resize
  ColourJitter jitter{};
  MaskColour mask_colour = MaskColour::none;  // else the window is not resized
  std::uint64_t mask_seed = 0;
};

// The pixels that are needed of a picture of `stored` pixels.
codec::Rect needed_window(const Augmentation& by, codec::PixelSize stored);

// What is drawn for each picture.
struct AugmentPolicy {
  bool crop_and_flip = true;  // false: the whole picture, resized
  bool jitter = false;        // brightness, contrast and saturation by 0.6 to 1.4 each
  // Not none: a window of `crop` pixels that is not resized, instead of all of these.
  MaskColour mask_colour = MaskColour::none;
  codec::PixelSize crop{};

  // Whether a picture is large enough for what is drawn.
  bool takes(codec::PixelSize picture) const {
    return mask_colour == MaskColour::none ||
           (picture.width >= crop.width && picture.height >= crop.height);
  }
};
// `picture` is one that the policy takes.
Augmentation draw_augmentation(const AugmentPolicy& policy, codec::PixelSize picture,
                               std::uint64_t seed);

// torchvision's RandomResizedCrop(scale=(0.08, 1), ratio=(3/4, 4/3)) followed by
// RandomHorizontalFlip: the same distribution, from one seed.
Augmentation random_resized_crop(codec::PixelSize picture, std::uint64_t seed);

// A window of `crop` pixels anywhere in a picture that is at least as large, each as likely as any
// other; the seed of a mask.
Augmentation random_masked_crop(codec::PixelSize crop, MaskColour order, codec::PixelSize picture,
                                std::uint64_t seed);

// The factors of ColorJitter(brightness=0.4, contrast=0.4, saturation=0.4), from the same seed;
// they do not change the crop. Always in this order, which torchvision draws too.
ColourJitter random_jitter(std::uint64_t seed);

}  // namespace feedrate::pipeline
