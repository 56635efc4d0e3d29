#include <gtest/gtest.h>

#include <cmath>

#include "pipeline/augment.h"

namespace feedrate::tests {
namespace {

// torchvision's RandomResizedCrop at 500x375: area uniform in 8..100 %, ratio
// log-uniform, drawn again where the window does not fit.
TEST(RandomResizedCrop, HasTorchvisionsDistribution) {
  constexpr codec::PixelSize kPicture{500, 375};
  double area = 0, log_ratio = 0, bottom = 0;
  int flips = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const pipeline::Augmentation a =
        pipeline::random_resized_crop(kPicture, static_cast<std::uint64_t>(i));
    ASSERT_GE(a.window.x, 0);
    ASSERT_GE(a.window.y, 0);
    ASSERT_LE(a.window.x + a.window.width, kPicture.width);
    ASSERT_LE(a.window.y + a.window.height, kPicture.height);
    area += double(a.window.width) * a.window.height / (500.0 * 375);
    log_ratio += std::log(double(a.window.width) / a.window.height);
    bottom += double(a.window.y + a.window.height) / kPicture.height;
    flips += a.flip;
  }
  // Means of 60,000 draws of torchvision 0.26's own get_params() at this size: 0.4328, 0.0297,
  // 0.8599.
  EXPECT_NEAR(area / kDraws, 0.433, 0.008);
  EXPECT_NEAR(log_ratio / kDraws, 0.030, 0.008);
  EXPECT_NEAR(bottom / kDraws, 0.860, 0.008);
  EXPECT_NEAR(double(flips) / kDraws, 0.5, 0.02);
}

TEST(RandomResizedCrop, FitsAnyShape) {
  for (const codec::PixelSize size :
       {codec::PixelSize{1, 1}, codec::PixelSize{1000, 3}, codec::PixelSize{3, 1000}}) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const codec::Rect w = pipeline::random_resized_crop(size, seed).window;
      EXPECT_GE(w.width, 1);
      EXPECT_GE(w.height, 1);
      EXPECT_LE(w.x + w.width, size.width);
      EXPECT_LE(w.y + w.height, size.height);
    }
  }
}

}  // namespace
}  // namespace feedrate::tests
