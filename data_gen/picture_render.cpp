#include "data_gen/picture_render.h"

#include <algorithm>
#include <cmath>

#include "data_gen/picture_texture.h"

namespace feedrate::data_gen {
namespace {

constexpr int kFine = 2;  // points a pixel in each direction, where leaves meet

// Which leaf is in front at every point.
struct LeafMap {
  int width, height;
  std::vector<std::uint32_t> leaf;
  // The upper left of the 2x2 points at (x, y), or of the nearest that are all inside.
  const std::uint32_t* at(int x, int y) const {
    return &leaf[static_cast<std::size_t>(std::clamp(y, 0, height - 2)) *
                     static_cast<std::size_t>(width) +
                 static_cast<std::size_t>(std::clamp(x, 0, width - 2))];
  }
};

LeafMap paint_leaves(const Scene& scene, codec::PixelSize size) {
  LeafMap map{size.width * kFine, size.height * kFine, {}};
  map.leaf.resize(static_cast<std::size_t>(map.width) * static_cast<std::size_t>(map.height));
  const double scale = map.width / scene.width, step_y = scene.height / map.height;
  for (std::size_t index = 0; index < scene.leaves.size(); ++index) {
    const Shape& shape = scene.leaves[index].shape;
    const double half = shape.half_height();
    const int first = floored(std::max(0.0, (shape.y - half) / step_y + 0.5));
    const int end_y = floored(std::clamp((shape.y + half) / step_y + 0.5, 0.0, 1.0 * map.height));
    for (int y = first; y < end_y; ++y) {
      const Span span = shape.row((y + 0.5) * step_y);
      // Points whose middle lies in the span.
      const int begin = floored(std::clamp(span.begin * scale + 0.5, 0.0, 1.0 * map.width));
      const int end = floored(std::clamp(span.end * scale + 0.5, 0.0, 1.0 * map.width));
      if (begin >= end) continue;
      auto* row = &map.leaf[static_cast<std::size_t>(y) * static_cast<std::size_t>(map.width)];
      std::fill(row + begin, row + end, static_cast<std::uint32_t>(index));
    }
  }
  return map;
}

struct Paint {
  const Scene& scene;
  TextureTile tiles[3];
  SmoothField warp_x, warp_y, patches;
  float texture;  // factor of all texture: a smaller picture sees coarser, stronger texture

  Paint(const Scene& of, float side, Random& random)
      : scene(of),
        tiles{make_texture(random, of.style.roughness), {}, {}},
        warp_x(random),
        warp_y(random),
        patches(random),
        texture(std::clamp(std::sqrt(std::sqrt(kStyleSide / side)), 0.6f, 1.5f)) {
    const int length = 4 + static_cast<int>(random.below(12));
    tiles[1] = make_streaks(tiles[0], length, false);
    tiles[2] = make_streaks(tiles[0], length, true);
  }

  // Adds the leaf's colour at (x, y), in scene units, to rgb.
  void add(const Leaf& leaf, float x, float y, float grain, float weight, float* rgb) const {
    const float shade = leaf.luma + leaf.luma_x * x + leaf.luma_y * y;
    const float luma = 255 * weight * std::max(0.0f, shade) * (1 + leaf.texture * grain);
    rgb[0] += luma * leaf.red;
    rgb[1] += luma * leaf.green;
    rgb[2] += luma * leaf.blue;
  }
};

void render_row(const Paint& paint, const LeafMap& map, int y, Canvas& canvas) {
  const Scene& scene = paint.scene;
  const float unit = static_cast<float>(scene.width) / static_cast<float>(canvas.size.width);
  const float reach = scene.style.warp / unit * kFine;
  const float v = (static_cast<float>(y) + 0.5f) / static_cast<float>(canvas.size.height);
  const float sy = v * static_cast<float>(scene.height);
  const SmoothField::Row warp_x = paint.warp_x.row(v), warp_y = paint.warp_y.row(v),
                         patches = paint.patches.row(v);
  const std::size_t row = static_cast<std::size_t>(y) * static_cast<std::size_t>(canvas.size.width);
  for (int x = 0; x < canvas.size.width; ++x) {
    const float u = (static_cast<float>(x) + 0.5f) / static_cast<float>(canvas.size.width);
    const float sx = u * static_cast<float>(scene.width);
    const int px = x * kFine + floored(reach * warp_x.at(u) + 0.5f);
    const int py = y * kFine + floored(reach * warp_y.at(u) + 0.5f);
    const std::uint32_t* at = map.at(px, py);
    const std::uint32_t points[] = {at[0], at[1], at[map.width], at[map.width + 1]};
    const Region& region = scene.regions[scene.leaves[points[0]].region];
    const auto lean = static_cast<std::uint32_t>((region.shear * y) >> 8);
    const float patch = std::clamp(1 + 1.2f * patches.at(u), 0.1f, 2.5f);
    const float grain =
        paint.texture * patch *
        paint.tiles[region.tile].at(static_cast<std::uint32_t>(x) + region.tile_x + lean,
                                    static_cast<std::uint32_t>(y) + region.tile_y);
    float* rgb = &canvas.rgb[(row + static_cast<std::size_t>(x)) * 3];
    canvas.far[row + static_cast<std::size_t>(x)] = region.far;
    if (points[0] == points[1] && points[0] == points[2] && points[0] == points[3]) {
      paint.add(scene.leaves[points[0]], sx, sy, grain, 1, rgb);
    } else {
      for (const std::uint32_t point : points)
        paint.add(scene.leaves[point], sx, sy, grain, 0.25f, rgb);
    }
  }
}

}  // namespace

Canvas render_scene(const Scene& scene, codec::PixelSize size, Random& random) {
  const Paint paint(scene, geometric_side(size), random);
  const LeafMap map = paint_leaves(scene, size);
  const auto pixels = static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
  Canvas canvas{size, std::vector<float>(pixels * 3, 0.0f), std::vector<std::uint8_t>(pixels)};
  for (int y = 0; y < size.height; ++y) render_row(paint, map, y, canvas);
  return canvas;
}

}  // namespace feedrate::data_gen
