#pragma once
#include <cstdint>
#include <vector>

#include "data_gen/picture_random.h"
#include "data_gen/picture_render.h"

namespace feedrate::data_gen {

// What the optics do to it; standard deviations in pixels, that of the lens at most 1.2.
void blur_far(Canvas& canvas, float sigma);
void blur_lens(Canvas& canvas, float sigma);

// What the sensor does: noise, in grey levels at mid grey, clipping and quantisation. RGB, packed.
std::vector<std::uint8_t> expose(const Canvas& canvas, float noise, Random& random);

}  // namespace feedrate::data_gen
