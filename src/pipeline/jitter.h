#pragma once
#include <cstddef>
#include <cstdint>

#include "pipeline/augment.h"

namespace feedrate::pipeline {

// Weights of red, green and blue in gray (ITU-R 601, as torchvision rounds them).
inline constexpr float kGray[3] = {0.2989f, 0.587f, 0.114f};

// torchvision's adjust_brightness, adjust_contrast and adjust_saturation, one after the other, in
// fp32: each cuts to 0..255, the last is rounded to the nearest (torchvision's uint8 version cuts
// off after each). `pixels`: `count` interleaved RGB pixels of one picture, changed in place.
// Thread-safe.
void jitter_colours(std::uint8_t* pixels, std::size_t count, const ColourJitter& by);

}  // namespace feedrate::pipeline
