#include "data_gen/drawn_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <thread>
#include <vector>

#include "codec/tensor.h"

namespace feedrate::tests {
namespace {

using Drawing = std::vector<std::uint8_t>;

std::size_t bytes_of(codec::PixelSize size) {
  return 3 * static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
}

// `before`: what every byte is before it is drawn.
Drawing drawn(std::uint64_t seed, codec::PixelSize size, std::size_t samples,
              std::uint8_t before = 0) {
  Drawing pixels(samples * bytes_of(size), before);
  data_gen::draw_batch(seed, size, pixels);
  return pixels;
}

// The values of a channel of many pictures, normalised.
struct Channel {
  double sum = 0, squares = 0, count = 0;
  void add(double value) { sum += value, squares += value * value, ++count; }
  double mean() const { return sum / count; }
  double variance() const { return squares / count - mean() * mean(); }
};

TEST(DrawnBatch, IsAPureFunctionOfSeedAndSize) {
  const Drawing one = drawn(1, {32, 32}, 8);
  EXPECT_EQ(one, drawn(1, {32, 32}, 8));
  EXPECT_NE(one, drawn(2, {32, 32}, 8));
}

TEST(DrawnBatch, IsTheSameFromSeveralThreads) {
  std::array<Drawing, 4> made;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < made.size(); ++i)
    threads.emplace_back([&, i] { made[i] = drawn(i / 2, {40, 24}, 20); });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < made.size(); ++i) EXPECT_EQ(made[i], drawn(i / 2, {40, 24}, 20)) << i;
}

// Those that show the same picture show other windows of it. Which ones hangs on the seed alone.
TEST(DrawnBatch, HasNoTwoSamplesThatAreAlike) {
  constexpr std::size_t kSamples = 48;
  for (const codec::PixelSize size : {codec::PixelSize{224, 224}, codec::PixelSize{32, 32}}) {
    const Drawing pixels = drawn(3, size, kSamples);
    const auto sample = [&](std::size_t i) {
      return std::span(pixels).subspan(i * bytes_of(size), bytes_of(size));
    };
    for (std::size_t a = 0; a < kSamples; ++a) {
      for (std::size_t b = 0; b < a; ++b)
        EXPECT_FALSE(std::ranges::equal(sample(a), sample(b)))
            << size.width << ": " << a << " " << b;
    }
  }
}

TEST(DrawnBatch, WritesEveryByteAtEverySize) {
  for (const codec::PixelSize size :
       {codec::PixelSize{1, 1}, codec::PixelSize{2, 1}, codec::PixelSize{8, 8},
        codec::PixelSize{32, 32}, codec::PixelSize{17, 31}, codec::PixelSize{512, 384}}) {
    for (const std::size_t samples : {std::size_t{1}, std::size_t{3}})
      EXPECT_EQ(drawn(4, size, samples, 0), drawn(4, size, samples, 255))
          << codec::to_string(size) << ", " << samples << " samples";
  }
  EXPECT_EQ(drawn(4, {8, 8}, 0), Drawing());
}

// As normal noise has: a mean near 0 and a variance near 1.
TEST(DrawnBatch, HasTheMeanAndVarianceThatNormalisedPicturesHave) {
  std::array<Channel, 3> channels;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Drawing pixels = drawn(seed, {32, 32}, 64);
    for (std::size_t i = 0; i < pixels.size(); ++i)
      channels[i % 3].add((pixels[i] / 255.0 - codec::kMean[i % 3]) / codec::kStd[i % 3]);
  }
  for (const Channel& channel : channels) {
    EXPECT_NEAR(channel.mean(), 0, 0.35);
    EXPECT_GT(channel.variance(), 0.7);
    EXPECT_LT(channel.variance(), 1.5);
  }
}

// Unlike in noise, a pixel is near its neighbours: the mean square of differences, over twice the
// variance, is 1 in noise at every distance.
TEST(DrawnBatch, HasNeighboursThatAreAlike) {
  constexpr std::size_t kSide = 32, kRow = 3 * kSide;
  Channel all;
  std::array<double, 4> squares{}, count{};
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Drawing pixels = drawn(seed, {kSide, kSide}, 64);
    for (std::size_t green = 1; green < pixels.size(); green += 3) {
      all.add(pixels[green]);
      for (std::size_t k = 0; k < squares.size(); ++k) {
        const std::size_t away = std::size_t{3} << k;
        if (green % kRow + away >= kRow) continue;
        squares[k] += std::pow(static_cast<double>(pixels[green + away]) - pixels[green], 2);
        ++count[k];
      }
    }
  }
  std::array<double, 4> structure{};
  for (std::size_t k = 0; k < squares.size(); ++k)
    structure[k] = squares[k] / count[k] / (2 * all.variance());
  EXPECT_LT(structure[0], 0.25);
  EXPECT_TRUE(std::ranges::is_sorted(structure))
      << structure[0] << " " << structure[1] << " " << structure[2] << " " << structure[3];
}

}  // namespace
}  // namespace feedrate::tests
