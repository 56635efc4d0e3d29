#pragma once
#include <cstdint>
#include <memory>
#include <string_view>

#include "codec/codec.h"

namespace feedrate::pipeline {

// bilinear: the two nearest pixels of each direction, not antialiased: OpenCV's INTER_LINEAR,
// torchvision's antialias=False. antialias: a triangle as wide as the output pixel when shrinking:
// Pillow's BILINEAR, torchvision's antialias=True. area: the mean over the output pixel (OpenCV's
// INTER_AREA, by OpenCV). The first two are at most one level of 255 away from those.
enum class ResizeFilter { bilinear, antialias, area };
ResizeFilter resize_filter_from(std::string_view name);  // throws UsageError

// Resizes pictures on the calling thread alone. One per worker (it keeps scratch memory).
class Resizer {
 public:
  Resizer();
  ~Resizer();
  // Writes to.width x to.height packed RGB pixels of the window to `out`; `flip`: mirrored left to
  // right. area counts every pixel that the window touches as a whole pixel.
  void resize(const codec::DecodedWindow& window, codec::PixelSize to, bool flip,
              ResizeFilter filter, std::uint8_t* out);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace feedrate::pipeline
