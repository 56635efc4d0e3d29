#pragma once
#include <cstdint>
#include <memory>
#include <string_view>

#include "codec/codec.h"

namespace feedrate {

// bilinear: the two nearest pixels of each direction, not antialiased: OpenCV's INTER_LINEAR, torchvision's
// antialias=False. antialias: a triangle as wide as the output pixel when shrinking: Pillow's BILINEAR,
// torchvision's antialias=True. area: the mean over the output pixel (OpenCV's INTER_AREA, by OpenCV).
// The first two are at most one level of 255 away from those.
enum class ResizeFilter { bilinear, antialias, area };
ResizeFilter resize_filter_from(std::string_view name);  // throws UsageError

// Resizes pictures on the calling thread alone. One per worker (it keeps scratch memory).
class Resizer {
 public:
  Resizer();
  ~Resizer();
  // Writes to.width x to.height packed RGB pixels to `out`; `flip`: mirrored left to right.
  void resize(const PixelView& picture, PixelSize to, bool flip, ResizeFilter filter, std::uint8_t* out);
  // The same of a window that may begin and end within a pixel. area: of all its pixels.
  void resize_window(const ReducedPixels& window, PixelSize to, bool flip, ResizeFilter filter, std::uint8_t* out);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace feedrate
