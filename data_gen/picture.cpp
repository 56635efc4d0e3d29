#include "data_gen/picture.h"

#include <algorithm>
#include <cmath>

#include "data_gen/picture_camera.h"
#include "data_gen/picture_random.h"
#include "data_gen/picture_render.h"
#include "data_gen/picture_scene.h"

namespace feedrate::data_gen {

Picture synthesise_picture(std::uint64_t seed, codec::PixelSize size, float detail) {
  // The scene has its own random numbers, so that it does not depend on the size in pixels.
  Random scene_random(seed), pixel_random(seed ^ 0x70697865u);
  const Scene scene =
      compose_scene(scene_random, static_cast<double>(size.width) / size.height, detail);
  const float side = geometric_side(size);
  // Scaling down averages noise and blur away.
  const float finer = std::clamp(std::sqrt(side / kStyleSide), 0.5f, 1.6f);

  Canvas canvas = render_scene(scene, size, pixel_random);
  if (scene.style.depth_blur > 0) blur_far(canvas, scene.style.depth_blur * side);
  blur_lens(canvas, scene.style.lens_blur * finer);
  return {size, expose(canvas, scene.style.noise * finer, pixel_random)};
}

}  // namespace feedrate::data_gen
