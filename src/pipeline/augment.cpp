#include "pipeline/augment.h"

#include <algorithm>
#include <cmath>

namespace feedrate::pipeline {

MaskColour mask_colour_from(std::string_view augment) {
  if (augment == "mask-color") return MaskColour::cropped;
  if (augment == "mask-color-crop-last") return MaskColour::whole;
  return MaskColour::none;
}

codec::Rect needed_window(const Augmentation& by, codec::PixelSize stored) {
  return by.mask_colour == MaskColour::whole ? codec::Rect{0, 0, stored.width, stored.height}
                                             : by.window;
}

Augmentation random_resized_crop(codec::PixelSize picture, std::uint64_t seed) {
  Random random(seed);
  const bool flip = (random.bits() & 1) != 0;
  const double area = static_cast<double>(picture.width) * picture.height;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * random.uniform(0.08, 1.0);
    const double ratio = std::exp(random.uniform(std::log(3.0 / 4), std::log(4.0 / 3)));
    const int width = static_cast<int>(std::lround(std::sqrt(target * ratio)));
    const int height = static_cast<int>(std::lround(std::sqrt(target / ratio)));
    if (width < 1 || height < 1 || width > picture.width || height > picture.height) continue;
    const int y = random.below(picture.height - height + 1);
    const int x = random.below(picture.width - width + 1);
    return {{x, y, width, height}, flip};
  }
  // None fitted (very wide or tall pictures): the largest centred window of a permitted ratio.
  const double ratio = static_cast<double>(picture.width) / picture.height;
  int width = picture.width, height = picture.height;
  if (ratio < 3.0 / 4) height = std::max(1, static_cast<int>(std::lround(width / (3.0 / 4))));
  if (ratio > 4.0 / 3) width = std::max(1, static_cast<int>(std::lround(height * (4.0 / 3))));
  return {{(picture.width - width) / 2, (picture.height - height) / 2, width, height}, flip};
}

Augmentation random_masked_crop(codec::PixelSize crop, MaskColour order, codec::PixelSize picture,
                                std::uint64_t seed) {
  Random random(seed);
  const int y = random.below(picture.height - crop.height + 1);
  const int x = random.below(picture.width - crop.width + 1);
  Augmentation drawn{{x, y, crop.width, crop.height}};
  drawn.mask_colour = order;
  drawn.mask_seed = mix64(seed, 0x6d61736b);  // a stream of its own
  return drawn;
}

ColourJitter random_jitter(std::uint64_t seed) {
  Random random(mix64(seed, 0x6a697474));  // a stream of its own
  const auto factor = [&] { return static_cast<float>(random.uniform(0.6, 1.4)); };
  ColourJitter jitter;
  jitter.brightness = factor();
  jitter.contrast = factor();
  jitter.saturation = factor();
  return jitter;
}

Augmentation draw_augmentation(const AugmentPolicy& policy, codec::PixelSize picture,
                               std::uint64_t seed) {
  if (policy.mask_colour != MaskColour::none)
    return random_masked_crop(policy.crop, policy.mask_colour, picture, seed);
  Augmentation drawn = policy.crop_and_flip
                           ? random_resized_crop(picture, seed)
                           : Augmentation{{0, 0, picture.width, picture.height}, false};
  if (policy.jitter) drawn.jitter = random_jitter(seed);
  return drawn;
}

}  // namespace feedrate::pipeline
