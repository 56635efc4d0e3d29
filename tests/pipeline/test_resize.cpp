#include <gtest/gtest.h>

#include <cmath>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <random>
#include <string>
#include <vector>

#include "pipeline/resize.h"

namespace feedrate::tests {
namespace {

using ResizePixels = std::vector<std::uint8_t>;

struct Picture {
  codec::PixelSize size;
  ResizePixels pixels;
  codec::PixelView view() const { return {pixels.data(), 3 * size.width, size.width, size.height}; }
};

Picture noise_of(codec::PixelSize size, unsigned seed = 1) {
  Picture picture{size, ResizePixels(static_cast<std::size_t>(size.width) * size.height * 3)};
  std::mt19937 random(seed);
  for (auto& value : picture.pixels) value = static_cast<std::uint8_t>(random());
  return picture;
}

ResizePixels resized(const Picture& picture, codec::PixelSize to, pipeline::ResizeFilter filter,
                     bool flip = false) {
  ResizePixels out(static_cast<std::size_t>(to.width) * to.height * 3);
  pipeline::Resizer().resize(codec::DecodedWindow(picture.view()), to, flip, filter, out.data());
  return out;
}

int largest_difference(const ResizePixels& a, const ResizePixels& b) {
  EXPECT_EQ(a.size(), b.size());
  int largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    largest = std::max(largest, std::abs(int{a[i]} - int{b[i]}));
  return largest;
}

// Down, up, both, to itself, narrower than a vector, a single pixel.
struct Case {
  codec::PixelSize from, to;
};
const std::vector<Case> kCases = {
    {{300, 200}, {224, 224}}, {{97, 61}, {224, 224}}, {{640, 31}, {64, 64}},
    {{224, 224}, {224, 224}}, {{768, 768}, {96, 96}}, {{4, 3}, {7, 5}},
    {{17, 9}, {3, 2}},        {{1, 1}, {5, 4}},       {{33, 1}, {1, 9}}};

// Pillow's BILINEAR in exact numbers: resize() of ImagingResampleHorizontal and -Vertical.
std::vector<double> triangle(const std::vector<double>& line, int to) {
  const int from = static_cast<int>(line.size());
  const double scale = static_cast<double>(from) / to, reach = std::max(scale, 1.0);
  std::vector<double> out;
  for (int i = 0; i < to; ++i) {
    const double centre = (i + 0.5) * scale;
    double sum = 0, total = 0;
    for (int x = 0; x < from; ++x) {
      const double weight = std::max(0.0, 1 - std::abs(x + 0.5 - centre) / reach);
      sum += weight * line[static_cast<std::size_t>(x)];
      total += weight;
    }
    out.push_back(sum / total);
  }
  return out;
}

ResizePixels exact_antialias(const Picture& picture, codec::PixelSize to) {
  ResizePixels out(static_cast<std::size_t>(to.width) * to.height * 3);
  for (int c = 0; c < 3; ++c) {
    std::vector<std::vector<double>> rows;
    for (int y = 0; y < picture.size.height; ++y) {
      std::vector<double> line;
      for (int x = 0; x < picture.size.width; ++x)
        line.push_back(
            picture.pixels[static_cast<std::size_t>(3 * (y * picture.size.width + x) + c)]);
      rows.push_back(triangle(line, to.width));
    }
    for (int x = 0; x < to.width; ++x) {
      std::vector<double> column;
      for (const auto& row : rows) column.push_back(row[static_cast<std::size_t>(x)]);
      const auto made = triangle(column, to.height);
      for (int y = 0; y < to.height; ++y) {
        out[static_cast<std::size_t>(3 * (y * to.width + x) + c)] =
            static_cast<std::uint8_t>(std::lround(made[static_cast<std::size_t>(y)]));
      }
    }
  }
  return out;
}

TEST(Resizer, BilinearIsOpenCvsWithinOneLevel) {
  for (const auto& [from, to] : kCases) {
    const Picture picture = noise_of(from);
    ResizePixels expected(static_cast<std::size_t>(to.width) * to.height * 3);
    const cv::Mat source(from.height, from.width, CV_8UC3,
                         const_cast<std::uint8_t*>(picture.pixels.data()));
    cv::Mat target(to.height, to.width, CV_8UC3, expected.data());
    cv::resize(source, target, target.size(), 0, 0, cv::INTER_LINEAR);
    EXPECT_LE(largest_difference(resized(picture, to, pipeline::ResizeFilter::bilinear), expected),
              1)
        << from.width << "x" << from.height << " to " << to.width << "x" << to.height;
  }
}

TEST(Resizer, AntialiasIsTheTriangleWithinOneLevel) {
  for (const auto& [from, to] : kCases) {
    const Picture picture = noise_of(from);
    EXPECT_LE(largest_difference(resized(picture, to, pipeline::ResizeFilter::antialias),
                                 exact_antialias(picture, to)),
              1)
        << from.width << "x" << from.height << " to " << to.width << "x" << to.height;
  }
}

TEST(Resizer, FlatStaysFlat) {
  for (const int level : {0, 1, 127, 254, 255}) {
    for (const auto& [from, to] : kCases) {
      Picture picture = noise_of(from);
      std::fill(picture.pixels.begin(), picture.pixels.end(), static_cast<std::uint8_t>(level));
      for (const auto filter : {pipeline::ResizeFilter::bilinear, pipeline::ResizeFilter::antialias,
                                pipeline::ResizeFilter::area}) {
        const ResizePixels made = resized(picture, to, filter);
        EXPECT_EQ(made, ResizePixels(made.size(), static_cast<std::uint8_t>(level)));
      }
    }
  }
}

TEST(Resizer, FlipMirrors) {
  for (const auto filter : {pipeline::ResizeFilter::bilinear, pipeline::ResizeFilter::antialias,
                            pipeline::ResizeFilter::area}) {
    for (const auto& [from, to] : kCases) {
      const Picture picture = noise_of(from);
      const ResizePixels straight = resized(picture, to, filter);
      ResizePixels mirrored(straight.size());
      for (int y = 0; y < to.height; ++y) {
        for (int x = 0; x < to.width; ++x) {
          for (int c = 0; c < 3; ++c) {
            mirrored[static_cast<std::size_t>(3 * (y * to.width + x) + c)] =
                straight[static_cast<std::size_t>(3 * (y * to.width + to.width - 1 - x) + c)];
          }
        }
      }
      EXPECT_EQ(resized(picture, to, filter, true), mirrored);
    }
  }
}

TEST(Resizer, SameSizeIsACopy) {
  const Picture picture = noise_of({37, 23});
  for (const auto filter : {pipeline::ResizeFilter::bilinear, pipeline::ResizeFilter::antialias,
                            pipeline::ResizeFilter::area}) {
    EXPECT_EQ(resized(picture, picture.size, filter), picture.pixels);
  }
}

TEST(Resizer, AreaIsTheMeanOfTheSourcePixels) {
  const Picture picture = noise_of({4, 4});
  const ResizePixels out = resized(picture, {1, 1}, pipeline::ResizeFilter::area);
  for (std::size_t c = 0; c < 3; ++c) {
    double mean = 0;
    for (std::size_t i = c; i < picture.pixels.size(); i += 3) mean += picture.pixels[i] / 16.0;
    EXPECT_NEAR(out[c], mean, 1.0);
  }
}

// A window's rows lie further apart than they are wide, and nothing behind the last may be read.
TEST(Resizer, ReadsTheWindowAlone) {
  const Picture whole = noise_of({60, 40});
  const int width = 41, height = 23;
  Picture cut{{width, height}, {}};
  for (int y = 0; y < height; ++y) {
    const auto* row = whole.pixels.data() + 3 * ((y + 17) * 60 + 19);
    cut.pixels.insert(cut.pixels.end(), row, row + 3 * width);
  }
  for (const auto filter : {pipeline::ResizeFilter::bilinear, pipeline::ResizeFilter::antialias}) {
    ResizePixels out(64 * 64 * 3);
    pipeline::Resizer().resize(
        codec::DecodedWindow({whole.pixels.data() + 3 * (17 * 60 + 19), 180, width, height}),
        {64, 64}, false, filter, out.data());
    EXPECT_EQ(out, resized(cut, {64, 64}, filter));
  }
}

// A window that begins and ends within pixels: of a slope, whose values tell where they were taken.
TEST(Resizer, AWindowMayBeginWithinAPixel) {
  Picture slope{{40, 30}, ResizePixels(40 * 30 * 3)};
  for (int y = 0; y < 30; ++y) {
    for (int x = 0; x < 40; ++x) {
      auto* pixel = &slope.pixels[static_cast<std::size_t>(3 * (y * 40 + x))];
      pixel[0] = static_cast<std::uint8_t>(6 * x), pixel[1] = static_cast<std::uint8_t>(8 * y);
    }
  }
  ResizePixels out(8 * 8 * 3);
  pipeline::Resizer().resize({slope.view(), 2.5, 3.25, 24, 16}, {8, 8}, false,
                             pipeline::ResizeFilter::bilinear, out.data());
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; ++x) {
      // Output pixel i has its centre at begin + (i + 0.5) * extent / 8; a source pixel's is at its
      // middle.
      EXPECT_NEAR(out[static_cast<std::size_t>(3 * (y * 8 + x))], 6 * (2.5 + (x + 0.5) * 3 - 0.5),
                  1);
      EXPECT_NEAR(out[static_cast<std::size_t>(3 * (y * 8 + x) + 1)],
                  8 * (3.25 + (y + 0.5) * 2 - 0.5), 1);
    }
  }
}

}  // namespace
}  // namespace feedrate::tests
