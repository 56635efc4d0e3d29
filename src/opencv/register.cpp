#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "codec/opencv_module.h"

extern "C" __attribute__((visibility("default"))) const std::uint64_t feedrate_layout;
const std::uint64_t feedrate_layout = feedrate::codec::kOpencvLayout;

// What the program looks up after loading this library.
extern "C" __attribute__((visibility("default"))) bool feedrate_opencv(
    std::span<const std::byte> encoded, feedrate::codec::PixelSize size, std::uint8_t* rgb) try {
  // OpenCV takes no const bytes; it does not write to what it decodes.
  auto* bytes = const_cast<std::byte*>(encoded.data());
  const cv::Mat file(1, static_cast<int>(encoded.size()), CV_8UC1, bytes);
  const cv::Mat bgr = cv::imdecode(file, cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION);
  if (bgr.cols != size.width || bgr.rows != size.height) return false;
  cv::Mat into(size.height, size.width, CV_8UC3, rgb);
  cv::cvtColor(bgr, into, cv::COLOR_BGR2RGB);
  return true;
} catch (const cv::Exception&) {
  return false;
}
