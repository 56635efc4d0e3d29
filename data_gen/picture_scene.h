#pragma once
#include <cstdint>
#include <vector>

#include "data_gen/picture_random.h"
#include "data_gen/picture_shape.h"

namespace feedrate::data_gen {

// A scene is laid out in units in which every picture has area 1, so that pictures of one seed show
// the same scene at every size of the same shape, as photographs scaled down do.

// A large part of the scene that is of one material: sky, a wall, foliage.
struct Region {
  Shape shape;
  float luma = 0, cb = 0, cr = 0;  // in [0, 1] without being held to it; chroma relative to luma
  float clutter = 0;               // the share of small leaves that stay on it
  float clutter_contrast = 0;
  float texture = 0;       // amplitude relative to luma
  std::uint32_t tile = 0;  // which texture,
  std::uint32_t tile_x = 0, tile_y = 0;
  std::int32_t shear = 0;  // and how it leans, in 1/256
  bool far = false;        // behind the plane of focus
};

// One flat patch of the picture: a whole region or a small leaf on one. Its luma is linear.
struct Leaf {
  Shape shape;
  std::uint32_t region = 0;
  float luma = 0, luma_x = 0, luma_y = 0;  // at (0, 0), per unit of x and y
  float red = 1, green = 1, blue = 1;      // of luma 1
  float texture = 0;
};

// What is drawn once for a picture and makes pictures differ as photographs do.
struct Style {
  float key = 0, contrast = 0, chroma = 0;
  float clutter = 0, clutter_contrast = 0, smallest = 0;
  float texture = 0, roughness = 0, streaks = 0;
  float built = 0;       // share of straight outlines
  float warp = 0;        // how far outlines wander from ellipses and rectangles
  float lens_blur = 0;   // standard deviations, in pixels of a picture of 500x375
  float noise = 0;       // grey levels at mid grey, likewise
  float depth_blur = 0;  // of what is far, in scene units; 0: all is in focus
};

struct Scene {
  Style style;
  double width = 1, height = 1;
  std::vector<Region> regions;
  std::vector<Leaf> leaves;  // back to front
};

// Dead leaves: shapes that occlude each other, with a radius density of r^-3, which gives both the
// 1/f spectrum and the edges of photographs (Lee, Mumford and Huang, 2001), on regions that differ
// in how much there is on them. `detail`: see synthesise_picture().
Scene compose_scene(Random& random, double aspect, float detail = 1);

}  // namespace feedrate::data_gen
