#pragma once

namespace feedrate::data_gen {

enum class Outline { ellipse, cut_ellipse, rectangle };

// Where a row meets an outline; empty when begin >= end.
struct Span {
  double begin;
  double end;
};

struct Shape {
  Outline outline = Outline::ellipse;
  double x = 0, y = 0;    // centre
  double ux = 1, uy = 0;  // unit vector of the long axis
  double a = 1, b = 1;    // half the length, half the width
  double half_height() const;
  Span row(double at_y) const;
  bool contains(double at_x, double at_y) const;
};

}  // namespace feedrate::data_gen
