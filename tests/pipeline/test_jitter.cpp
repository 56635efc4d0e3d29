#include "pipeline/jitter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace feedrate::tests {
namespace {

using Jittered = std::vector<std::uint8_t>;

Jittered noise(std::size_t count) {
  std::mt19937 random(3);
  Jittered pixels(3 * count);
  for (auto& p : pixels) p = static_cast<std::uint8_t>(random());
  return pixels;
}

// torchvision's three adjustments of float pictures, as its documentation defines them, in doubles.
std::vector<double> expected(const Jittered& pixels, const pipeline::ColourJitter& by) {
  const auto cut = [](double v) { return std::clamp(v, 0.0, 255.0); };
  std::vector<double> v(pixels.begin(), pixels.end());
  const auto gray = [&](std::size_t i) {
    return 0.2989 * v[3 * i] + 0.587 * v[3 * i + 1] + 0.114 * v[3 * i + 2];
  };
  for (double& x : v) x = cut(by.brightness * x);
  double mean = 0;
  for (std::size_t i = 0; i < v.size() / 3; ++i)
    mean += gray(i) / (static_cast<double>(v.size()) / 3);
  for (double& x : v) x = cut(by.contrast * x + (1 - by.contrast) * mean);
  for (std::size_t i = 0; i < v.size() / 3; ++i) {
    const double g = gray(i);
    for (std::size_t c = 0; c < 3; ++c)
      v[3 * i + c] = cut(by.saturation * v[3 * i + c] + (1 - by.saturation) * g);
  }
  return v;
}

TEST(Jitter, IsTorchvisionsDefinition) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const pipeline::ColourJitter by = pipeline::random_jitter(seed);
    const Jittered before = noise(321);
    Jittered after = before;
    pipeline::jitter_colours(after.data(), 321, by);
    const auto wanted = expected(before, by);
    for (std::size_t i = 0; i < after.size(); ++i)
      ASSERT_NEAR(after[i], wanted[i], 0.51) << seed << " " << i;
  }
}

TEST(Jitter, FactorsOfOneChangeNothing) {
  Jittered pixels = noise(10);
  pipeline::jitter_colours(pixels.data(), 10, {});
  EXPECT_EQ(pixels, noise(10));
}

TEST(Jitter, FactorsAreSpreadEvenlyAndDoNotChangeTheCrop) {
  double sum[3] = {}, least = 2, most = 0;
  constexpr int kDraws = 4000;
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    const pipeline::Augmentation a =
        pipeline::draw_augmentation({.jitter = true}, {500, 375}, seed);
    const float factors[3] = {a.jitter.brightness, a.jitter.contrast, a.jitter.saturation};
    for (int i = 0; i < 3; ++i) {
      sum[i] += factors[i];
      least = std::min<double>(least, factors[i]), most = std::max<double>(most, factors[i]);
    }
    const pipeline::Augmentation plain = pipeline::random_resized_crop({500, 375}, seed);
    ASSERT_EQ(a.window, plain.window);
    ASSERT_EQ(a.flip, plain.flip);
  }
  for (const double s : sum) EXPECT_NEAR(s / kDraws, 1, 0.015);
  EXPECT_GE(least, 0.6f);
  EXPECT_LE(most, 1.4f);
  EXPECT_LT(least, 0.61);
  EXPECT_GT(most, 1.39);
}

}  // namespace
}  // namespace feedrate::tests
