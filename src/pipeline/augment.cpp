#include "pipeline/augment.h"

#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "measure/error.h"

namespace feedrate {

Augmentation random_resized_crop(PixelSize picture, std::uint64_t seed) {
  Random random(seed);
  const bool flip = (random.bits() & 1) != 0;
  const double area = static_cast<double>(picture.width) * picture.height;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * random.uniform(0.08, 1.0);
    const double ratio = std::exp(random.uniform(std::log(3.0 / 4), std::log(4.0 / 3)));
    const int width = static_cast<int>(std::lround(std::sqrt(target * ratio)));
    const int height = static_cast<int>(std::lround(std::sqrt(target / ratio)));
    if (width < 1 || height < 1 || width > picture.width || height > picture.height) continue;
    const int y = random.below(picture.height - height + 1);
    const int x = random.below(picture.width - width + 1);
    return {{x, y, width, height}, flip};
  }
  // None fitted (very wide or tall pictures): the largest centred window of a permitted ratio.
  const double ratio = static_cast<double>(picture.width) / picture.height;
  int width = picture.width, height = picture.height;
  if (ratio < 3.0 / 4) height = std::max(1, static_cast<int>(std::lround(width / (3.0 / 4))));
  if (ratio > 4.0 / 3) width = std::max(1, static_cast<int>(std::lround(height * (4.0 / 3))));
  return {{(picture.width - width) / 2, (picture.height - height) / 2, width, height}, flip};
}

ResizeFilter resize_filter_from(std::string_view name) {
  if (name == "bilinear") return ResizeFilter::bilinear;
  if (name == "area") return ResizeFilter::area;
  throw UsageError("--resize-filter " + std::string(name), "is not known", "use bilinear or area");
}

struct Resizer::Scratch {
  cv::Mat unflipped;
};

Resizer::Resizer() : scratch_(std::make_unique<Scratch>()) {}
Resizer::~Resizer() = default;

void Resizer::resize(const PixelView& picture, PixelSize to, bool flip, ResizeFilter filter,
                     std::uint8_t* out) {
  // OpenCV takes no const pixels; it does not write to a source.
  const cv::Mat from(picture.height, picture.width, CV_8UC3, const_cast<std::uint8_t*>(picture.data),
                     static_cast<std::size_t>(picture.stride));
  cv::Mat target(to.height, to.width, CV_8UC3, out);
  cv::Mat& resized = flip ? scratch_->unflipped : target;
  const int method = filter == ResizeFilter::area ? cv::INTER_AREA : cv::INTER_LINEAR;
  cv::resize(from, resized, target.size(), 0, 0, method);
  if (flip) cv::flip(scratch_->unflipped, target, 1);
}

}  // namespace feedrate
