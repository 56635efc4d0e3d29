#include "data_gen/picture_shape.h"

#include <algorithm>
#include <cmath>

namespace feedrate::data_gen {
namespace {

constexpr double kCut = -0.15;  // a cut ellipse lacks what lies before this share of its long axis
constexpr Span kNothing{1, 0};
constexpr Span kAll{-1e9, 1e9};

// The x where low <= slope * x + offset <= high.
Span between(double slope, double offset, double low, double high) {
  if (std::abs(slope) < 1e-9) return offset >= low && offset <= high ? kAll : kNothing;
  const double p = (low - offset) / slope, q = (high - offset) / slope;
  return {std::min(p, q), std::max(p, q)};
}

Span both(const Span& p, const Span& q) {
  return {std::max(p.begin, q.begin), std::min(p.end, q.end)};
}

}  // namespace

double Shape::half_height() const {
  if (outline == Outline::rectangle) return a * std::abs(uy) + b * std::abs(ux);
  return std::sqrt(a * a * uy * uy + b * b * ux * ux);
}

Span Shape::row(double at_y) const {
  const double dy = at_y - y;
  Span span;
  if (outline == Outline::rectangle) {
    span = both(between(ux, dy * uy, -a, a), between(-uy, dy * ux, -b, b));
  } else {
    const double p = 1 / (a * a), q = 1 / (b * b);
    const double square = ux * ux * p + uy * uy * q;
    const double linear = dy * ux * uy * (p - q);
    const double rest = dy * dy * (uy * uy * p + ux * ux * q) - 1;
    const double root = linear * linear - square * rest;
    if (root <= 0) return kNothing;
    span = {(-linear - std::sqrt(root)) / square, (-linear + std::sqrt(root)) / square};
    if (outline == Outline::cut_ellipse) span = both(span, between(ux, dy * uy, a * kCut, a));
  }
  return {span.begin + x, span.end + x};
}

bool Shape::contains(double at_x, double at_y) const {
  const double dx = at_x - x, dy = at_y - y;
  const double p = (dx * ux + dy * uy) / a, q = (dy * ux - dx * uy) / b;
  if (outline == Outline::rectangle) return std::abs(p) <= 1 && std::abs(q) <= 1;
  if (outline == Outline::cut_ellipse && p < kCut) return false;
  return p * p + q * q <= 1;
}

}  // namespace feedrate::data_gen
