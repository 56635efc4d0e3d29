#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "codec/image.h"
#include "data_gen/picture_random.h"
#include "data_gen/picture_scene.h"

namespace feedrate::data_gen {

// The side of a square with as many pixels. kStyleSide is that of 500x375, the size that Style
// refers to.
inline float geometric_side(codec::PixelSize size) {
  return std::sqrt(static_cast<float>(size.width) * static_cast<float>(size.height));
}
inline constexpr float kStyleSide = 433;

// A picture before it is quantised: RGB, interleaved, grey levels without bounds.
struct Canvas {
  codec::PixelSize size;
  std::vector<float> rgb;         // height * width * 3
  std::vector<std::uint8_t> far;  // height * width: 1 where the scene is behind the plane of focus
};

// The scene as it is, sharp and without noise; edges are smoothed over 2x2 points a pixel.
Canvas render_scene(const Scene& scene, codec::PixelSize size, Random& random);

}  // namespace feedrate::data_gen
