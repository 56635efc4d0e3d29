// Our own decoder of common JPEG files. test_jpeg.cpp also shows that its pixels are libjpeg's.
#include "codec/jpeg/baseline.h"

#include <gtest/gtest.h>

#include <random>

#include "codec/jpeg/errors.h"
#include "jpeg_files.h"

namespace feedrate::tests {
namespace {

// The window by our decoder alone; empty where it leaves the file to libjpeg.
Pixels by_ours(codec::BaselineJpeg& ours, const Bytes& file, const codec::Rect& window,
               int reduction = 1) {
  codec::JpegErrors errors;
  jpeg_decompress_struct info{};
  info.err = errors.manager();
  jpeg_create_decompress(&info);
  bool taken = false;
  errors.guarded("a file", [&] {
    jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(file.data()), file.size());
    jpeg_read_header(&info, TRUE);
    taken = ours.decode(info, window, reduction);
  });
  jpeg_destroy_decompress(&info);
  Pixels pixels;
  const codec::PixelView view = ours.pixels();
  for (int y = 0; taken && y < view.height; ++y) {
    pixels.insert(pixels.end(), view.data + y * view.stride,
                  view.data + y * view.stride + 3 * view.width);
  }
  return pixels;
}

TEST(JpegBaseline, TakesTheCommonKindsAndNoOthers) {
  const TestPicture picture = make_picture(64, 48);
  codec::BaselineJpeg ours;
  const codec::Rect all{0, 0, 64, 48};
  for (const JpegKind& kind :
       {JpegKind{}, JpegKind{.horizontal = 2, .vertical = 1},
        JpegKind{.horizontal = 1, .vertical = 1}, JpegKind{.restart_rows = 1}}) {
    const Bytes file = write_jpeg(picture.pixels, picture.size, kind);
    EXPECT_EQ(by_ours(ours, file, all), reference_decode(file, false));
  }
  const Pixels gray(picture.pixels.begin(), picture.pixels.begin() + 64 * 48);
  const Bytes file = write_jpeg(gray, picture.size, {.channels = 1});
  EXPECT_EQ(by_ours(ours, file, all), reference_decode(file, false));
  for (const JpegKind& kind : {JpegKind{.progressive = true}, JpegKind{.arithmetic = true},
                               JpegKind{.horizontal = 1, .vertical = 2}}) {
    EXPECT_TRUE(by_ours(ours, write_jpeg(picture.pixels, picture.size, kind), all).empty());
  }
}

// Noise has every coefficient, long codes and samples beyond the range.
TEST(JpegBaseline, NoiseIsExact) {
  std::mt19937 random(1);
  const codec::PixelSize size{97, 83};
  Pixels noise(static_cast<std::size_t>(size.width * size.height * 3));
  codec::BaselineJpeg ours;
  for (int round = 0; round < 20; ++round) {
    for (auto& value : noise)
      value = round % 2 == 0 ? static_cast<std::uint8_t>(random()) : random() % 2 == 0 ? 0 : 255;
    const Bytes file =
        write_jpeg(noise, size, {.horizontal = 1 + round % 4 / 2, .vertical = 1 + round % 4 / 3});
    const Pixels found = by_ours(ours, file, {0, 0, size.width, size.height});
    ASSERT_FALSE(found.empty());
    ASSERT_EQ(found, reference_decode(file, false)) << round;
  }
}

// Odd sizes, so that the reduced picture's last units are cut; windows anywhere.
TEST(JpegBaseline, ReducedPicturesAreExact) {
  codec::BaselineJpeg ours;
  const TestPicture picture = make_picture(151, 117);
  const Pixels gray(picture.pixels.begin(), picture.pixels.begin() + 151 * 117);
  for (const int reduction : {2, 4, 8}) {
    const codec::PixelSize size{(151 + reduction - 1) / reduction,
                                (117 + reduction - 1) / reduction};
    for (const JpegKind& kind : {JpegKind{}, JpegKind{.horizontal = 1, .vertical = 1},
                                 JpegKind{.channels = 1}, JpegKind{.restart_rows = 1}}) {
      const Bytes file = write_jpeg(kind.channels == 1 ? gray : picture.pixels, picture.size, kind);
      const TestPicture expected{size, reference_decode(file, false, reduction)};
      for (const codec::Rect& window : windows_of(size, 30)) {
        ASSERT_EQ(by_ours(ours, file, window, reduction), cropped(expected, window))
            << "1/" << reduction << " at " << window.x << "," << window.y << " " << window.width
            << "x" << window.height;
      }
    }
    // Horizontal subsampling alone is left to libjpeg.
    EXPECT_TRUE(by_ours(ours,
                        write_jpeg(picture.pixels, picture.size, {.horizontal = 2, .vertical = 1}),
                        {0, 0, 5, 5}, reduction)
                    .empty());
  }
}

TEST(JpegBaseline, LeavesADamagedFileToLibjpeg) {
  const TestPicture picture = make_picture(64, 48);
  const Bytes file = write_jpeg(picture.pixels, picture.size, {});
  codec::BaselineJpeg ours;
  EXPECT_TRUE(by_ours(ours, Bytes(file.begin(), file.end() - 20), {0, 0, 64, 48}).empty());
}

}  // namespace
}  // namespace feedrate::tests
