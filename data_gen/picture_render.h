#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "codec/image.h"
#include "data_gen/picture_random.h"
#include "data_gen/picture_scene.h"

namespace feedrate {

// The side of the square with as many pixels; and that of 500x375, of which Style speaks.
inline float geometric_side(PixelSize size) {
  return std::sqrt(static_cast<float>(size.width) * static_cast<float>(size.height));
}
inline constexpr float kStyleSide = 433;

// A picture before it is quantised: RGB, interleaved, grey levels without bounds.
struct Canvas {
  PixelSize size;
  std::vector<float> rgb;         // height * width * 3
  std::vector<std::uint8_t> far;  // height * width: 1 where the scene is behind the plane of focus
};

// The scene as it is, sharp and without noise; edges are smoothed over 2x2 points a pixel.
Canvas render_scene(const Scene& scene, PixelSize size, Random& random);

// What the optics do to it; standard deviations in pixels, that of the lens at most 1.2.
void blur_far(Canvas& canvas, float sigma);
void blur_lens(Canvas& canvas, float sigma);

// What the sensor does: noise, in grey levels at mid grey, clipping and quantisation. RGB, packed.
std::vector<std::uint8_t> expose(const Canvas& canvas, float noise, Random& random);

}  // namespace feedrate
