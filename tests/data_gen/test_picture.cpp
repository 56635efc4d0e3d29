#include "data_gen/picture.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>
#include <thread>
#include <vector>

#include "codec/codec.h"

namespace feedrate::tests {
namespace {

struct Plane {
  int width, height;
  std::vector<double> values;
  double at(int x, int y) const { return values[static_cast<std::size_t>(y * width + x)]; }
};

Plane luma_of(const data_gen::Picture& picture) {
  Plane plane{picture.size.width, picture.size.height, {}};
  for (std::size_t i = 0; i + 2 < picture.pixels.size(); i += 3)
    plane.values.push_back(0.299 * picture.pixels[i] + 0.587 * picture.pixels[i + 1] +
                           0.114 * picture.pixels[i + 2]);
  return plane;
}

Plane halved(const Plane& from) {
  Plane to{from.width / 2, from.height / 2, {}};
  for (int y = 0; y < to.height; ++y)
    for (int x = 0; x < to.width; ++x)
      to.values.push_back((from.at(2 * x, 2 * y) + from.at(2 * x + 1, 2 * y) +
                           from.at(2 * x, 2 * y + 1) + from.at(2 * x + 1, 2 * y + 1)) /
                          4);
  return to;
}

std::vector<double> gradient(const Plane& plane) {
  std::vector<double> differences;
  for (int y = 1; y < plane.height; ++y) {
    for (int x = 1; x < plane.width; ++x) {
      differences.push_back(plane.at(x, y) - plane.at(x - 1, y));
      differences.push_back(plane.at(x, y) - plane.at(x, y - 1));
    }
  }
  return differences;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double moment(const std::vector<double>& values, int order, double about) {
  double sum = 0;
  for (const double v : values) sum += std::pow(v - about, order);
  return sum / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
  return std::sqrt(moment(values, 2, mean(values)));
}

double kurtosis(const std::vector<double>& values) {
  return moment(values, 4, 0) / std::pow(moment(values, 2, 0), 2);
}

// The exponent of power over frequency, from the energy of the gradient in octaves: where power is
// f^-a in two dimensions, each coarser octave has 2^(a - 2) times the energy of the finer.
double spectral_slope(Plane plane) {
  const double fine = moment(gradient(plane), 2, 0);
  constexpr int octaves = 4;
  for (int i = 0; i < octaves; ++i) plane = halved(plane);
  return -2 - std::log2(moment(gradient(plane), 2, 0) / fine) / octaves;
}

double correlation(const Plane& a, const Plane& b) {
  const double mean_a = mean(a.values), mean_b = mean(b.values);
  double sum = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i)
    sum += (a.values[i] - mean_a) * (b.values[i] - mean_b);
  return sum / static_cast<double>(a.values.size()) / deviation(a.values) / deviation(b.values);
}

std::vector<data_gen::Picture> gallery(int count, codec::PixelSize size) {
  std::vector<data_gen::Picture> pictures;
  for (int seed = 0; seed < count; ++seed)
    pictures.push_back(data_gen::synthesise_picture(static_cast<std::uint64_t>(seed), size));
  return pictures;
}

std::vector<double> bits_per_pixel(const std::vector<data_gen::Picture>& pictures,
                                   const char* format) {
  std::vector<double> bits;
  std::vector<std::byte> encoded;
  for (const data_gen::Picture& picture : pictures) {
    codec::find_picture_format(format)->encode(picture.view(), {}, encoded);
    bits.push_back(8.0 * static_cast<double>(encoded.size()) / picture.size.width /
                   picture.size.height);
  }
  return bits;
}

TEST(Picture, IsAPureFunctionOfSeedAndSize) {
  const codec::PixelSize size{224, 224};
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const data_gen::Picture picture = data_gen::synthesise_picture(seed, size);
    EXPECT_EQ(picture.pixels, data_gen::synthesise_picture(seed, size).pixels);
    EXPECT_NE(picture.pixels, data_gen::synthesise_picture(seed + 1, size).pixels);
  }
}

TEST(Picture, IsTheSameFromSeveralThreads) {
  const codec::PixelSize size{160, 120};
  std::vector<data_gen::Picture> made(8);
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    threads.emplace_back([&, seed] { made[seed] = data_gen::synthesise_picture(seed, size); });
  for (std::thread& thread : threads) thread.join();
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    EXPECT_EQ(made[seed].pixels, data_gen::synthesise_picture(seed, size).pixels)
        << "seed " << seed;
}

TEST(Picture, HasTheSizeAskedFor) {
  for (const codec::PixelSize size :
       {codec::PixelSize{1, 1}, codec::PixelSize{2, 1}, codec::PixelSize{1, 3},
        codec::PixelSize{17, 31}, codec::PixelSize{224, 224}, codec::PixelSize{500, 375},
        codec::PixelSize{3, 1000}, codec::PixelSize{1000, 2}}) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const data_gen::Picture picture = data_gen::synthesise_picture(seed, size);
      EXPECT_EQ(picture.size, size);
      EXPECT_EQ(picture.pixels.size(), static_cast<std::size_t>(size.width * size.height * 3));
    }
  }
}

// White noise has a slope of 0 and a kurtosis of 3; a flat picture has no contrast.
TEST(Picture, HasTheStatisticsOfPhotographs) {
  std::vector<double> levels, contrasts, slopes, kurtoses;
  for (const data_gen::Picture& picture : gallery(24, {500, 375})) {
    const Plane luma = luma_of(picture);
    levels.push_back(mean(luma.values));
    contrasts.push_back(deviation(luma.values));
    slopes.push_back(spectral_slope(luma));
    kurtoses.push_back(kurtosis(gradient(luma)));
  }
  EXPECT_THAT(levels, testing::Each(testing::AllOf(testing::Gt(10), testing::Lt(245))));
  EXPECT_THAT(contrasts, testing::Each(testing::Gt(8)));
  EXPECT_THAT(slopes, testing::Each(testing::AllOf(testing::Gt(-4), testing::Lt(-1.4))));
  EXPECT_THAT(kurtoses, testing::Each(testing::Gt(4)));
  EXPECT_THAT(mean(levels), testing::AllOf(testing::Gt(80), testing::Lt(160)));
  EXPECT_THAT(mean(contrasts), testing::AllOf(testing::Gt(35), testing::Lt(65)));
  EXPECT_THAT(mean(slopes), testing::AllOf(testing::Gt(-3.2), testing::Lt(-2.1)));
  EXPECT_THAT(mean(kurtoses), testing::AllOf(testing::Gt(10), testing::Lt(80)));
}

// The bands are the means of photographs (docs/formats.md), 25 % wide to either side.
TEST(Picture, CompressesAsPhotographsDo) {
  const std::vector<data_gen::Picture> pictures = gallery(32, {500, 375});
  const std::vector<double> jpeg = bits_per_pixel(pictures, "jpeg");
  const std::vector<double> png = bits_per_pixel(pictures, "png");
  EXPECT_THAT(mean(jpeg), testing::AllOf(testing::Gt(1.62), testing::Lt(2.7)));
  EXPECT_THAT(mean(png), testing::AllOf(testing::Gt(9), testing::Lt(15)));
  EXPECT_GT(deviation(jpeg), 0.4);  // and they differ from each other
  EXPECT_GT(deviation(png), 1.2);
}

// A smaller picture of a seed is the larger one scaled down, up to its texture and noise.
TEST(Picture, ShowsTheSameSceneAtEverySize) {
  std::vector<double> same, other;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Plane small = luma_of(data_gen::synthesise_picture(seed, {224, 224}));
    same.push_back(
        correlation(small, halved(luma_of(data_gen::synthesise_picture(seed, {448, 448})))));
    other.push_back(
        correlation(small, luma_of(data_gen::synthesise_picture(seed + 100, {224, 224}))));
  }
  EXPECT_THAT(same, testing::Each(testing::Gt(0.5)));
  EXPECT_GT(mean(same), 0.75);
  EXPECT_LT(mean(other), 0.5);
}

}  // namespace
}  // namespace feedrate::tests
