#include "pipeline/resize.h"

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <string>
#include <vector>

#include "base/error.h"
#include "codec/plain.h"
#include "pipeline/resize_kernels.h"
#include "pipeline/resize_taps.h"

namespace feedrate::pipeline {

ResizeFilter resize_filter_from(std::string_view name) {
  if (name == "bilinear") return ResizeFilter::bilinear;
  if (name == "antialias") return ResizeFilter::antialias;
  if (name == "area") return ResizeFilter::area;
  throw UsageError("--resize-filter " + std::string(name), "is not known",
                   "use bilinear, antialias or area");
}

namespace {

// Every filter gives back the pixels themselves then.
bool is_of_size(const codec::DecodedWindow& window, codec::PixelSize to) {
  const codec::PixelView& p = window.pixels;
  return p.width == to.width && p.height == to.height && window.x == 0 && window.y == 0 &&
         window.width == p.width && window.height == p.height;
}

}  // namespace

struct Resizer::Scratch {
  cv::Mat unflipped;
  ResizeTaps down, across;
  std::vector<std::int16_t> row;

  void by_area(const codec::PixelView& picture, codec::PixelSize to, bool flip, std::uint8_t* out) {
    // OpenCV takes no const pixels; it does not write to a source.
    const cv::Mat from(picture.height, picture.width, CV_8UC3,
                       const_cast<std::uint8_t*>(picture.data),
                       static_cast<std::size_t>(picture.stride));
    cv::Mat target(to.height, to.width, CV_8UC3, out);
    cv::resize(from, flip ? unflipped : target, target.size(), 0, 0, cv::INTER_AREA);
    if (flip) cv::flip(unflipped, target, 1);
  }

  // Columns first: this pass works on whole rows, and leaves few of them to the second pass.
  void by_triangle(const codec::DecodedWindow& window, codec::PixelSize to, bool flip,
                   bool antialias, std::uint8_t* out) {
    const codec::PixelView& picture = window.pixels;
    down.prepare(picture.height, window.y, window.height, to.height, antialias, false);
    across.prepare(picture.width, window.x, window.width, to.width, antialias, flip);
    row.resize(static_cast<std::size_t>(picture.width + across.each) * 3 + 8);
    for (int y = 0; y < to.height; ++y, out += 3 * to.width) {
      const auto at = static_cast<std::size_t>(y);
      blend_rows(picture.data + down.first[at] * picture.stride, picture.stride,
                 &down.weights[at * down.each], down.count[at], 3 * picture.width, row.data());
      gather_pixels(row.data(), across.first.data(), across.weights.data(), across.each, to.width,
                    out);
    }
  }
};

Resizer::Resizer() : scratch_(std::make_unique<Scratch>()) {}
Resizer::~Resizer() = default;

void Resizer::resize(const codec::DecodedWindow& window, codec::PixelSize to, bool flip,
                     ResizeFilter filter, std::uint8_t* out) {
  if (!flip && is_of_size(window, to)) return codec::copy_packed(window.pixels, out);
  if (filter == ResizeFilter::area) return scratch_->by_area(window.pixels, to, flip, out);
  scratch_->by_triangle(window, to, flip, filter == ResizeFilter::antialias, out);
}

}  // namespace feedrate::pipeline
