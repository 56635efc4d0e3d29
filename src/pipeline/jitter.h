#pragma once
#include <cstddef>
#include <cstdint>

#include "pipeline/augment.h"

namespace feedrate::pipeline {

// torchvision's adjust_brightness, adjust_contrast and adjust_saturation, one after the other, in
// fp32: each cuts to 0..255, the last is rounded to the nearest (torchvision's uint8 version cuts
// off after each). `pixels`: `count` interleaved RGB pixels of one picture, changed in place.
// Thread-safe.
void jitter_colours(std::uint8_t* pixels, std::size_t count, const ColourJitter& by);

}  // namespace feedrate::pipeline
