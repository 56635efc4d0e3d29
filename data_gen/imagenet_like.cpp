#include "data_gen/imagenet_like.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

// Where the figures come from. Bytes: the archive of the training set has 147,897,477,120 bytes;
// without tar's headers and padding that is 114,667 for each of its 1,281,167 pictures, and MLPerf
// Storage's ResNet-50 takes 114,660 (mlcommons/storage, resnet50_h100.yaml, record_length_bytes).
// Sizes, shapes, qualities and subsampling: counted on one picture of each of the 1000 classes
// (github.com/EliSchwartz/imagenet-sample-images), whose mean is 109,576 bytes, within 5 %. They
// are of two kinds: two thirds were scaled to 500 pixels and stored at quality 96 without
// subsampling, which a survey of the whole set also found to be the rule (Ehrlich, "Compression in
// the ImageNet dataset", terryalanunlimited.com); the rest are as the web had them. Left out: gray
// pictures (2.3 % of the sample), 22 CMYK ones and a PNG.
namespace feedrate::data_gen {
namespace {

struct Point {
  float share, value;
};

// The value below which `share` of all lie, by straight lines between the points.
float quantile(std::span<const Point> points, float share) {
  std::size_t i = 1;
  while (i + 1 < points.size() && points[i].share < share) ++i;
  const Point &a = points[i - 1], &b = points[i];
  const float t = std::clamp((share - a.share) / (b.share - a.share), 0.0f, 1.0f);
  return a.value + t * (b.value - a.value);
}

struct Choice {
  float percent;
  int value;
};
int choose(std::span<const Choice> choices, float percent) {
  for (const Choice& choice : choices) {
    if (percent < choice.percent) return choice.value;
    percent -= choice.percent;
  }
  return choices.back().value;
}

constexpr int kScaledSide = 500, kScaledQuality = 96;
constexpr float kScaled = 0.671f;  // the share of those that were scaled

// The long side of those that do not have 500 pixels: 17.1 % of all have less, 12.6 % more.
constexpr Point kShorter[] = {{0, 68},      {0.001f, 95}, {0.01f, 150},
                              {0.05f, 250}, {0.10f, 350}, {0.171f, 499}};
constexpr Point kLonger[] = {{0.874f, 501}, {0.90f, 594},   {0.95f, 750},
                             {0.99f, 1095}, {0.999f, 1837}, {1, 2400}};
// Long over short side: as many in each of these ranges beside the exact ones below.
constexpr Point kAspect[] = {{0, 1},          {0.066f, 1.05f}, {0.216f, 1.2f},
                             {0.397f, 1.3f},  {0.525f, 1.37f}, {0.738f, 1.46f},
                             {0.816f, 1.54f}, {0.934f, 1.8f},  {1, 2.6f}};
constexpr float kSquare = 0.040f, kFourToThree = 0.380f, kThreeToTwo = 0.260f;
constexpr float kPortrait = 0.256f;
// Of those as the web had them, in percent of all pictures.
constexpr Choice kQualities[] = {{1.2f, 60}, {0.8f, 65}, {1.7f, 70}, {5.7f, 75}, {1.0f, 78},
                                 {4.1f, 80}, {1.1f, 83}, {3.4f, 85}, {2.0f, 86}, {1.2f, 88},
                                 {2.5f, 90}, {1.4f, 91}, {2.3f, 92}, {1.3f, 94}, {1.2f, 95},
                                 {1.2f, 98}, {0.8f, 100}};

int draw_long_side(Random& random, bool scaled) {
  if (random.chance(scaled ? 0.97f : 0.16f)) return kScaledSide;
  constexpr float kBelow = 0.171f, kAbove = 0.126f;
  const float share = random.uniform() * (kBelow + kAbove);
  const float side =
      share < kBelow ? quantile(kShorter, share) : quantile(kLonger, 1 - kAbove + share - kBelow);
  return static_cast<int>(side);
}

float draw_aspect(Random& random) {
  const float share = random.uniform();
  if (share < kSquare) return 1;
  if (share < kSquare + kFourToThree) return 4.0f / 3;
  if (share < kSquare + kFourToThree + kThreeToTwo) return 1.5f;
  return quantile(kAspect, random.uniform());
}

codec::PixelSize draw_size(Random& random, bool scaled) {
  const int longer = draw_long_side(random, scaled);
  const int shorter =
      std::max(32, static_cast<int>(std::lround(static_cast<float>(longer) / draw_aspect(random))));
  return random.chance(kPortrait) ? codec::PixelSize{shorter, longer}
                                  : codec::PixelSize{longer, shorter};
}

// Good qualities come without subsampling more often.
bool is_subsampled(Random& random, int quality) {
  const float share = quality < 75 ? 0.97f : quality < 85 ? 0.75f : quality <= 95 ? 0.53f : 0.45f;
  return random.chance(share);
}

}  // namespace

StoredLike draw_like_imagenet(Random& random) {
  const bool scaled = random.chance(kScaled);
  StoredLike stored{draw_size(random, scaled), kScaledQuality, "444"};
  if (scaled) return stored;
  stored.jpeg_quality = choose(kQualities, random.uniform() * 32.9f);
  if (is_subsampled(random, stored.jpeg_quality)) stored.subsampling = "420";
  return stored;
}

}  // namespace feedrate::data_gen
