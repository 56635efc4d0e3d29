#include "pipeline/mask_colour.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "base/random.h"
#include "pipeline/augment.h"

namespace feedrate::tests {
namespace {

using codec::PixelSize;

struct Mask {
  explicit Mask(PixelSize of) : size(of), words(pipeline::mask_words(of)) {}
  bool operator()(int x, int y) const {
    const std::uint64_t word =
        words[static_cast<std::size_t>(y) * pipeline::mask_words(size.width) +
              static_cast<std::size_t>(x) / 64];
    return (word >> (x % 64) & 1) != 0;
  }
  void set(int x, int y) {
    words[static_cast<std::size_t>(y) * pipeline::mask_words(size.width) +
          static_cast<std::size_t>(x) / 64] |= std::uint64_t{1} << (x % 64);
  }
  double share() const {
    std::int64_t set = 0;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) set += (*this)(x, y);
    return static_cast<double>(set) / size.width / size.height;
  }
  PixelSize size;
  std::vector<std::uint64_t> words;
};

Mask drawn(PixelSize size, std::uint64_t seed) {
  Mask mask(size);
  pipeline::draw_mask(size, seed, mask.words.data());
  return mask;
}
Mask dilated(const Mask& mask) {
  Mask all(mask.size);
  pipeline::dilate(mask.size, mask.words.data(), all.words.data());
  return all;
}

bool is_inside(PixelSize size, int x, int y) {
  return x >= 0 && y >= 0 && x < size.width && y < size.height;
}

// The share of pixels that are masked: one stays if neither it nor any of its neighbours was drawn.
double expected_share(PixelSize size) {
  double masked = 0;
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      int pixels = 1;
      for (const auto& [dx, dy] :
           {std::pair(1, 0), std::pair(-1, 0), std::pair(0, 1), std::pair(0, -1)})
        pixels += is_inside(size, x + dx, y + dy);
      masked += 1 - std::pow(0.75, pixels);
    }
  }
  return masked / size.width / size.height;
}

TEST(Mask, AQuarterOfThePixelsIsDrawnAndThreeQuartersAreMasked) {
  constexpr PixelSize kSize{224, 224};
  constexpr int kMasks = 40;
  constexpr double kPixels = 224.0 * 224 * kMasks;
  double drawn_share = 0, masked_share = 0;
  for (std::uint64_t seed = 0; seed < kMasks; ++seed) {
    const Mask mask = drawn(kSize, mix64(seed));
    drawn_share += mask.share() / kMasks;
    masked_share += dilated(mask).share() / kMasks;
  }
  EXPECT_NEAR(drawn_share, 0.25, 4 * std::sqrt(0.25 * 0.75 / kPixels));
  // 1 - (3/4)^5 = 76.3 % within the picture; a little less at its edges, where pixels have fewer
  // neighbours.
  const double expected = expected_share(kSize);
  EXPECT_NEAR(expected, 1 - std::pow(0.75, 5), 0.002);
  // Pixels share neighbours: 8 others share two of a pixel's five, 4 others share one, so that a
  // pixel's variance comes with its covariances.
  const auto stays = [](int pixels) { return std::pow(0.75, pixels); };
  const double variance =
      (stays(5) - stays(10)) + 8 * (stays(8) - stays(10)) + 4 * (stays(9) - stays(10));
  EXPECT_NEAR(masked_share, expected, 4 * std::sqrt(variance / kPixels));
}

// What a device computes, too.
TEST(Mask, BitsAreThoseOfTwoMixedNumbers) {
  constexpr PixelSize kSize{130, 3};  // two words and two pixels
  constexpr std::uint64_t kSeed = 0xfedcba9876543210;
  const Mask mask = drawn(kSize, kSeed);
  ASSERT_EQ(mask.words.size(), 9u);
  for (std::uint64_t n = 0; n < 9; ++n) {
    const std::uint64_t whole = mix64(kSeed + 2 * n) & mix64(kSeed + 2 * n + 1);
    EXPECT_EQ(mask.words[n], n % 3 == 2 ? whole & 3 : whole) << n;
  }
  EXPECT_EQ(mask.words, drawn(kSize, kSeed).words);
  EXPECT_NE(mask.words, drawn(kSize, kSeed + 1).words);
}

TEST(Mask, APixelSpreadsToItsFourNeighboursWithinThePicture) {
  for (const PixelSize size : {PixelSize{130, 4}, PixelSize{128, 3}, PixelSize{64, 2},
                               PixelSize{1, 3}, PixelSize{5, 1}, PixelSize{1, 1}}) {
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        Mask mask(size), expected(size);
        mask.set(x, y);
        for (const auto& [dx, dy] : {std::pair(0, 0), std::pair(1, 0), std::pair(-1, 0),
                                     std::pair(0, 1), std::pair(0, -1)}) {
          if (is_inside(size, x + dx, y + dy)) expected.set(x + dx, y + dy);
        }
        // Bits beyond a row's end are looked at as well.
        ASSERT_EQ(dilated(mask).words, expected.words) << x << "," << y << " of " << size.width;
      }
    }
  }
}

std::vector<double> coloured(double red, double green, double blue) {
  return {0.299 * red + 0.587 * green + 0.114 * blue,
          -0.168736 * red - 0.331264 * green + 0.5 * blue + 128,
          0.5 * red - 0.418688 * green - 0.081312 * blue + 128};
}

// Rows that do not follow each other, and whose length is no multiple of a word.
TEST(MaskAndColour, IsTheMatrixOfBt601) {
  constexpr int kLevels = 52, kWidth = 2 * kLevels, kHeight = kLevels * kLevels / 2;
  constexpr std::ptrdiff_t kStride = 3 * kWidth + 5;
  std::vector<std::uint8_t> pixels(kStride * kHeight);
  const auto level = [](int i) { return static_cast<std::uint8_t>(5 * i); };
  const auto at = [](int x, int y) { return y * kStride + 3 * x; };
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      std::uint8_t* pixel = pixels.data() + at(x, y);
      pixel[0] = level(x % kLevels), pixel[1] = level(y % kLevels);
      pixel[2] = level(2 * (y / kLevels) + x / kLevels);
    }
  }
  const Mask nothing({kWidth, kHeight});
  std::vector<std::uint8_t> out(3 * kWidth * kHeight);
  pipeline::mask_and_colour({pixels.data(), kStride, kWidth, kHeight}, nothing.words.data(),
                            out.data());
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const std::uint8_t* in = pixels.data() + at(x, y);
      const std::vector<double> expected = coloured(in[0], in[1], in[2]);
      for (std::size_t c = 0; c < 3; ++c) {
        const double got = out[static_cast<std::size_t>(3 * (y * kWidth + x)) + c];
        ASSERT_NEAR(got, std::clamp(expected[c], 0.0, 255.0), 0.5001) << x << " " << y << " " << c;
      }
    }
  }
}

TEST(MaskAndColour, KnownColoursAreKnown) {
  const std::vector<std::uint8_t> pixels = {0, 0, 0,   255, 255, 255, 255, 0,
                                            0, 0, 255, 0,   0,   0,   255};
  const Mask nothing({5, 1});
  std::vector<std::uint8_t> out(pixels.size());
  pipeline::mask_and_colour({pixels.data(), 15, 5, 1}, nothing.words.data(), out.data());
  EXPECT_EQ(out, (std::vector<std::uint8_t>{0, 128, 128, 255, 128, 128, 76, 85, 255, 150, 44, 21,
                                            29, 255, 107}));
}

// A masked pixel is black before its colours are changed.
TEST(MaskAndColour, MaskedPixelsAreBlackAndTheOthersStay) {
  constexpr PixelSize kSize{150, 11};
  std::vector<std::uint8_t> pixels(3 * 150 * 11);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(mix64(i));
  const codec::PixelView view{pixels.data(), 3 * kSize.width, kSize.width, kSize.height};
  const Mask mask = drawn(kSize, 7), nothing(kSize);
  std::vector<std::uint8_t> masked(pixels.size()), whole(pixels.size());
  pipeline::mask_and_colour(view, mask.words.data(), masked.data());
  pipeline::mask_and_colour(view, nothing.words.data(), whole.data());
  for (int y = 0; y < kSize.height; ++y) {
    for (int x = 0; x < kSize.width; ++x) {
      const std::size_t i = static_cast<std::size_t>(3 * (y * kSize.width + x));
      const std::uint8_t expected[3] = {mask(x, y) ? std::uint8_t{0} : whole[i],
                                        mask(x, y) ? std::uint8_t{128} : whole[i + 1],
                                        mask(x, y) ? std::uint8_t{128} : whole[i + 2]};
      for (std::size_t c = 0; c < 3; ++c) ASSERT_EQ(masked[i + c], expected[c]) << x << " " << y;
    }
  }
}

TEST(MaskColourer, DrawsSpreadsMasksAndColours) {
  constexpr PixelSize kSmall{70, 9}, kLarge{200, 30};
  std::vector<std::uint8_t> pixels(3 * 200 * 30, 200);
  pipeline::MaskColourer colourer;
  for (const PixelSize size : {kLarge, kSmall, kLarge}) {  // its memory has seen another size
    const codec::PixelView view{pixels.data(), 3 * kLarge.width, size.width, size.height};
    std::vector<std::uint8_t> expected(static_cast<std::size_t>(3 * size.width * size.height));
    std::vector<std::uint8_t> got(expected.size());
    pipeline::mask_and_colour(view, dilated(drawn(size, 5)).words.data(), expected.data());
    colourer.apply(view, 5, got.data());
    EXPECT_EQ(got, expected);
  }
}

TEST(MaskedCrop, IsAnywhereInThePictureWithTheSameChance) {
  constexpr PixelSize kPicture{10, 7}, kCrop{4, 3};
  constexpr int kPlaces = 7 * 5, kDraws = kPlaces * 1000;
  pipeline::AugmentPolicy policy;
  policy.crop = kCrop;
  std::map<std::pair<int, int>, int> seen;
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    policy.mask_colour = pipeline::MaskColour::cropped;
    const pipeline::Augmentation a = pipeline::draw_augmentation(policy, kPicture, seed);
    ASSERT_GE(a.window.x, 0);
    ASSERT_GE(a.window.y, 0);
    ASSERT_LE(a.window.x + kCrop.width, kPicture.width);
    ASSERT_LE(a.window.y + kCrop.height, kPicture.height);
    ASSERT_EQ((PixelSize{a.window.width, a.window.height}), kCrop);
    ASSERT_FALSE(a.flip);
    ++seen[{a.window.x, a.window.y}];
    policy.mask_colour = pipeline::MaskColour::whole;
    const pipeline::Augmentation last = pipeline::draw_augmentation(policy, kPicture, seed);
    ASSERT_EQ(last.window, a.window);
    ASSERT_EQ(last.mask_seed, a.mask_seed);
    ASSERT_EQ(pipeline::needed_window(a, kPicture), a.window);
    ASSERT_EQ(pipeline::needed_window(last, kPicture), (codec::Rect{0, 0, 10, 7}));
  }
  EXPECT_EQ(seen.size(), std::size_t{kPlaces});
  double chi_squared = 0;  // mean kPlaces - 1, variance 2 (kPlaces - 1)
  for (const auto& [place, times] : seen) chi_squared += std::pow(times - 1000, 2) / 1000;
  EXPECT_LT(chi_squared, (kPlaces - 1) + 4 * std::sqrt(2.0 * (kPlaces - 1)));
}

TEST(MaskedCrop, OfThePicturesOwnSizeIsThePicture) {
  pipeline::AugmentPolicy policy;
  policy.mask_colour = pipeline::MaskColour::cropped, policy.crop = {40, 30};
  EXPECT_EQ(pipeline::draw_augmentation(policy, {40, 30}, 9).window, (codec::Rect{0, 0, 40, 30}));
  EXPECT_TRUE(policy.takes({40, 30}));
  EXPECT_FALSE(policy.takes({39, 30}));
  EXPECT_FALSE(policy.takes({40, 29}));
}

}  // namespace
}  // namespace feedrate::tests
