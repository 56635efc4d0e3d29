#include "data_gen/picture_scene.h"

#include <algorithm>
#include <cmath>

namespace feedrate::data_gen {
namespace {

constexpr float kLargestSmall = 0.11f;  // radius of the largest small leaf
constexpr int kMostLeaves = 60000;

// Busy pictures are busy in everything, hence one number behind clutter, contrast and texture. The
// medians and spreads are fitted to photographs (docs/formats.md).
Style draw_style(Random& random) {
  const float busy = random.normal();
  Style style;
  style.key = random.uniform(0.3f, 0.62f);
  style.contrast = random.uniform(0.09f, 0.22f);
  style.chroma = random.log_normal(0.15f, 0.6f);
  style.clutter = std::min(6.0f, random.log_normal(1.4f, 0.55f) * (1 + 0.25f * busy));
  style.clutter_contrast = 0.28f * (1 + 0.2f * busy) * random.log_normal(1, 0.25f);
  style.smallest = random.log_normal(1 / 330.0f, 0.4f);
  style.texture = 0.075f * (1 + 0.27f * busy) * random.log_normal(1, 0.65f);
  style.roughness = random.uniform(0.6f, 1.15f);
  style.streaks = random.uniform();
  style.built = random.chance(0.5f) ? random.uniform(0.4f, 0.95f) : random.uniform(0, 0.3f);
  style.warp = style.built > 0.4f ? random.uniform(0, 0.01f) : random.uniform(0.01f, 0.04f);
  style.lens_blur = random.log_normal(0.5f, 0.3f);
  style.noise = random.log_normal(1.1f, 0.6f);
  style.depth_blur = random.chance(0.33f) ? random.uniform(0.006f, 0.025f) : 0.0f;
  return style;
}

Shape draw_shape(Random& random, const Scene& scene, double radius, double longest) {
  Shape shape;
  shape.x = random.uniform(-0.05f, 1.05f) * scene.width;
  shape.y = random.uniform(-0.05f, 1.05f) * scene.height;
  const bool straight = random.chance(scene.style.built);
  double norm;
  do {  // a direction without sine and cosine
    shape.ux = random.uniform(-1, 1);
    shape.uy = random.uniform(-1, 1);
    norm = shape.ux * shape.ux + shape.uy * shape.uy;
  } while (norm > 1 || norm < 0.01);
  shape.ux /= std::sqrt(norm);
  shape.uy /= std::sqrt(norm);
  if (straight && random.chance(0.8f)) {  // what is built stands upright, nearly
    const bool upright = random.chance(0.5f);
    const double tilt = 0.06 * random.normal();
    shape.ux = upright ? tilt : std::sqrt(1 - tilt * tilt);
    shape.uy = upright ? std::sqrt(1 - tilt * tilt) : tilt;
  }
  const double stretch = std::sqrt(std::min<double>(random.log_normal(1.7f, 0.6f), longest));
  shape.a = radius * stretch;
  shape.b = radius / stretch;
  shape.outline = straight              ? Outline::rectangle
                  : random.chance(0.3f) ? Outline::cut_ellipse
                                        : Outline::ellipse;
  return shape;
}

// Colours lie along orange and blue more than along green and purple, as those of daylight do.
void draw_chroma(Random& random, const Style& style, Region& region) {
  const float along = random.normal() * style.chroma + 0.04f,
              across = random.normal() * style.chroma;
  region.cb = -0.75f * along + 0.25f * across;
  region.cr = 0.66f * along + 0.3f * across;
}

Region draw_region(Random& random, const Style& style, const Shape& shape, bool far) {
  Region region;
  region.shape = shape;
  region.far = far;
  region.luma = std::clamp(style.key + style.contrast * random.normal(), 0.06f, 0.98f);
  draw_chroma(random, style, region);
  const float rough = random.uniform();
  region.clutter = std::min(1.0f, 1.4f * rough * rough);
  region.clutter_contrast = style.clutter_contrast * random.log_normal(1, 0.5f);
  region.texture = style.texture * random.log_normal(1, 0.8f) * (0.25f + rough);
  region.tile = random.chance(style.streaks) ? 1 + random.below(2) : 0;
  region.tile_x = random.below(1024);
  region.tile_y = random.below(1024);
  region.shear = static_cast<std::int32_t>(random.normal() * 120);
  return region;
}

// A leaf on its region: with the region's colour, and `ratio` times its luma.
Leaf make_leaf(Random& random, const Region& region, std::uint32_t index, const Shape& shape,
               float ratio, float shading, float tint) {
  Leaf leaf;
  leaf.shape = shape;
  leaf.region = index;
  const float luma = region.luma * ratio;
  leaf.luma_x = luma * shading * random.normal();
  leaf.luma_y = luma * shading * random.normal();
  leaf.luma =
      luma - leaf.luma_x * static_cast<float>(shape.x) - leaf.luma_y * static_cast<float>(shape.y);
  const float cb = region.cb + tint * random.normal(), cr = region.cr + tint * random.normal();
  leaf.red = std::max(0.05f, 1 + 1.402f * cr);
  leaf.green = std::max(0.05f, 1 - 0.344f * cb - 0.714f * cr);
  leaf.blue = std::max(0.05f, 1 + 1.772f * cb);
  leaf.texture = region.texture * random.log_normal(1, 0.3f);
  return leaf;
}

void add_region(Random& random, Scene& scene, const Shape& shape, bool far) {
  scene.regions.push_back(draw_region(random, scene.style, shape, far));
  const auto index = static_cast<std::uint32_t>(scene.regions.size() - 1);
  const float shading = 0.5f * random.uniform();
  scene.leaves.push_back(make_leaf(random, scene.regions.back(), index, shape, 1, shading, 0));
}

void add_regions(Random& random, Scene& scene) {
  const bool deep = scene.style.depth_blur > 0;
  const Shape everything{Outline::rectangle, scene.width / 2, scene.height / 2, 1, 0, 50, 50};
  add_region(random, scene, everything, deep);
  if (random.chance(0.6f)) {  // the ground below a horizon
    const double tilt = 0.04 * random.normal(), horizon = random.uniform(0.3f, 0.9f);
    add_region(random, scene,
               {Outline::rectangle, scene.width / 2, scene.height * horizon + 20,
                std::sqrt(1 - tilt * tilt), tilt, 50, 20},
               deep && random.chance(0.5f));
  }
  const int count = 4 + static_cast<int>(random.log_normal(10, 0.6f));
  const int near = deep ? count / 2 : 0;
  for (int i = 0; i < count; ++i) {  // radii from 0.07 to 0.5, density r^-2
    const double radius = 1 / random.uniform(2, 14);
    add_region(random, scene, draw_shape(random, scene, radius, 12), deep && i < near);
  }
}

std::uint32_t region_at(const Scene& scene, double x, double y) {
  auto index = static_cast<std::uint32_t>(scene.regions.size() - 1);
  while (index > 0 && !scene.regions[index].shape.contains(x, y)) --index;
  return index;
}

void add_small_leaves(Random& random, Scene& scene) {
  const Style& style = scene.style;
  const float low = std::min(style.smallest, kLargestSmall / 4), ratio = low / kLargestSmall;
  // So many that all of them would cover `clutter` times the picture: E[r^2] = 2 low^2 ln(1/ratio).
  const int octaves = std::max(1, -std::ilogb(ratio));
  const float mean_area = 3.14f * 2 * low * low * 0.693f * static_cast<float>(octaves);
  const int count = std::min(kMostLeaves, static_cast<int>(style.clutter / mean_area));
  scene.leaves.reserve(scene.leaves.size() + static_cast<std::size_t>(count) / 2);
  for (int i = 0; i < count; ++i) {
    const float radius = low / std::sqrt(1 - random.uniform() * (1 - ratio * ratio));
    const Shape shape = draw_shape(random, scene, radius, 20);
    const std::uint32_t index = region_at(scene, shape.x, shape.y);
    const Region& region = scene.regions[index];
    if (!random.chance(region.clutter)) continue;
    const float brighter = random.log_normal(1, region.clutter_contrast);
    const float shading = 0.1f * random.uniform() / std::max(0.02f, radius);
    const float tint = random.chance(0.1f) ? style.chroma : 0.2f * style.chroma;
    scene.leaves.push_back(make_leaf(random, region, index, shape, brighter, shading, tint));
  }
}

}  // namespace

Scene compose_scene(Random& random, double aspect, float detail) {
  Scene scene;
  scene.style = draw_style(random);
  scene.style.clutter *= detail;
  scene.style.texture *= detail;
  scene.style.noise *= detail;
  scene.width = std::sqrt(aspect);
  scene.height = 1 / scene.width;
  add_regions(random, scene);
  add_small_leaves(random, scene);
  return scene;
}

}  // namespace feedrate::data_gen
