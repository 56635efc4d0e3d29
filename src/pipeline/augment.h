#pragma once
#include <cstdint>
#include <memory>
#include <string_view>

#include "codec/image.h"
#include "pipeline/random.h"

namespace feedrate {

// What is done to one picture; drawn before anything of it is decoded.
struct Augmentation {
  Rect window;        // of the stored picture
  bool flip = false;  // left-right, after the resize
};

// torchvision's RandomResizedCrop(scale=(0.08, 1), ratio=(3/4, 4/3)) followed by RandomHorizontalFlip:
// the same distribution, from one seed.
Augmentation random_resized_crop(PixelSize picture, std::uint64_t seed);

enum class ResizeFilter { bilinear, area };
ResizeFilter resize_filter_from(std::string_view name);  // throws UsageError

// Resizes pictures by OpenCV on the calling thread alone. One per worker (it keeps scratch memory).
// bilinear: four neighbours, not antialiased (cv::INTER_LINEAR); area: mean over each output pixel's
// area when shrinking (cv::INTER_AREA).
class Resizer {
 public:
  Resizer();
  ~Resizer();
  // Writes to.width x to.height packed RGB pixels to `out`.
  void resize(const PixelView& picture, PixelSize to, bool flip, ResizeFilter filter, std::uint8_t* out);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace feedrate
