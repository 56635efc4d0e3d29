#include <algorithm>

#include "jpeg_files.h"

namespace feedrate::tests {
namespace {

struct Case {
  const char* name;
  JpegKind kind;
};

class JpegKinds : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    Kinds, JpegKinds,
    testing::Values(Case{"ycc420", {}}, Case{"ycc422", {.horizontal = 2, .vertical = 1}},
                    Case{"ycc444", {.horizontal = 1, .vertical = 1}},
                    Case{"ycc440", {.horizontal = 1, .vertical = 2}},
                    Case{"ycc411", {.horizontal = 4, .vertical = 1}},
                    Case{"progressive", {.progressive = true}},
                    Case{"arithmetic", {.arithmetic = true}}, Case{"restarts", {.restart_rows = 1}},
                    Case{"gray", {.channels = 1}},
                    Case{"gray_progressive", {.channels = 1, .progressive = true}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_P(JpegKinds, windows_are_the_whole_picture_cut_out) {
  const JpegKind& kind = GetParam().kind;
  const auto decoder = codec::find_picture_format("jpeg")->make_decoder();
  for (const codec::PixelSize size : {codec::PixelSize{1, 1}, {7, 5}, {33, 47}, {100, 75}}) {
    Pixels values = make_picture(size.width, size.height).pixels;
    values.resize(static_cast<std::size_t>(size.width * size.height * kind.channels));
    const Bytes file = write_jpeg(values, size, kind);
    const TestPicture reference{size, reference_decode(file, false)};
    for (const codec::Rect& window : windows_of(size, 25)) {
      ASSERT_EQ(decode(*decoder, file, window), cropped(reference, window))
          << size.width << "x" << size.height << " at " << window.x << "," << window.y << " "
          << window.width << "x" << window.height;
    }
  }
}

class FourChannels : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Kinds, FourChannels, testing::Bool(),
                         [](const auto& test) { return test.param ? "ycck" : "cmyk"; });

TEST_P(FourChannels, become_rgb_as_inverted_inks) {
  const codec::PixelSize size{45, 31};
  Pixels values = make_picture(60, 31).pixels;  // as many bytes as 45 x 31 x 4
  const Bytes file = write_jpeg(values, size, {.channels = 4, .ycck = GetParam()});
  const Pixels cmyk = reference_decode(file, true);
  TestPicture expected{size, {}};
  for (std::size_t i = 0; i < cmyk.size(); i += 4) {
    for (std::size_t c = 0; c < 3; ++c) {
      // Inverted: 255 means no ink, so light passes as the product of ink and black.
      expected.pixels.push_back(static_cast<std::uint8_t>(cmyk[i + 3] * cmyk[i + c] / 255.0 + 0.5));
    }
  }
  const auto decoder = codec::find_picture_format("jpeg")->make_decoder();
  for (const codec::Rect& window : windows_of(size, 10)) {
    const Pixels found = decode(*decoder, file, window), wanted = cropped(expected, window);
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], wanted[i], 1);
  }
}

TEST(Jpeg, white_paper_in_four_channels_is_white) {
  const Bytes file = write_jpeg(Pixels(16 * 16 * 4, 255), {16, 16}, {.channels = 4});
  const auto decoder = codec::find_picture_format("jpeg")->make_decoder();
  EXPECT_EQ(decode_whole(*decoder, file).pixels, Pixels(16 * 16 * 3, 255));
}

TEST(Jpeg, quality_and_subsampling_are_obeyed) {
  const TestPicture picture = make_picture(64, 64);
  EXPECT_LT(encode("jpeg", picture, {.jpeg_quality = 30}).size(),
            encode("jpeg", picture, {.jpeg_quality = 95}).size());
  EXPECT_EQ(encode("jpeg", picture, {.jpeg_quality = 85, .subsampling = "444"}),
            write_jpeg(picture.pixels, picture.size, {.horizontal = 1, .vertical = 1}));
  EXPECT_EQ(encode("jpeg", picture, {.jpeg_quality = 85, .subsampling = "422"}),
            write_jpeg(picture.pixels, picture.size, {.horizontal = 2, .vertical = 1}));
  EXPECT_EQ(encode("jpeg", picture, {.jpeg_quality = 85}),
            write_jpeg(picture.pixels, picture.size, {}));
}

TEST(Jpeg, cut_off_below_the_window_gives_right_pixels_or_an_error) {
  const TestPicture picture = make_picture(160, 120);
  for (const bool progressive : {false, true}) {
    const Bytes file = write_jpeg(picture.pixels, picture.size, {.progressive = progressive});
    const TestPicture reference{picture.size, reference_decode(file, false)};
    const codec::Rect window{16, 8, 100, 40};
    const auto decoder = codec::find_picture_format("jpeg")->make_decoder();
    int right = 0;
    for (std::size_t length = 0; length < file.size(); length += 7) {
      const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
      try {
        EXPECT_EQ(decode(*decoder, cut, window), cropped(reference, window)) << length;
        ++right;
      } catch (const Error&) {
      }
    }
    // The rows below were not needed; a progressive file needs all of its scans.
    if (progressive) {
      EXPECT_EQ(right, 0);
    } else {
      EXPECT_GT(right, static_cast<int>(file.size() / 7 / 3));
    }
  }
}

TEST(Jpeg, many_scans_are_refused) {
  const Bytes file = write_many_scans({16, 16});
  const auto decoder = codec::find_picture_format("jpeg")->make_decoder();
  EXPECT_NE(error_of([&] { decode_whole(*decoder, file); }).find("scans"), std::string::npos);
}

TEST(Jpeg, errors_name_the_file_and_a_remedy) {
  const auto decoder = codec::find_picture_format("jpeg")->make_decoder();
  const Bytes file = encode("jpeg", make_picture(32, 32));
  const Bytes cut(file.begin(), file.end() - 40);
  const std::string message = error_of([&] {
    decoder->open(cut, "class_007/000123.jpg");
    decoder->decode({0, 0, 32, 32}, 1);
  });
  EXPECT_TRUE(message.starts_with("class_007/000123.jpg: ")) << message;
  EXPECT_NE(message.find("Premature end"), std::string::npos) << message;
  EXPECT_NE(message.find("feedrate verify"), std::string::npos) << message;
}

// A file that lacks a table is decoded as if it were the first one, or refused: libjpeg would lend
// it that of the picture before.
TEST(Jpeg, NothingIsLeftOfThePictureBefore) {
  const TestPicture picture = make_picture(67, 45);
  const Bytes whole_file = write_jpeg(picture.pixels, picture.size, {}),
              before = write_jpeg(picture.pixels, picture.size, {.progressive = true});
  int tables = 0;
  for (std::size_t at = 0; at + 1 < 600; ++at) {
    const bool is_table =
        whole_file[at + 1] == std::byte{0xc4} || whole_file[at + 1] == std::byte{0xdb};
    if (whole_file[at] != std::byte{0xff} || !is_table) continue;
    Bytes file = whole_file;
    file[at + 1] = std::byte{0xe4};  // an application's own data
    ++tables;
    const auto outcome = [&](codec::Decoder& decoder) {
      Pixels pixels;
      const std::string error = error_of([&] { pixels = decode_whole(decoder, file).pixels; });
      return std::pair(pixels, error);
    };
    const auto fresh = codec::find_picture_format("jpeg")->make_decoder(),
               used = codec::find_picture_format("jpeg")->make_decoder();
    decode_whole(*used, before);
    EXPECT_EQ(outcome(*used), outcome(*fresh)) << "table at byte " << at;
  }
  EXPECT_EQ(tables, 6);
}

// Whoever decodes it: the pixels that the window touches, and where in them it lies.
TEST(Jpeg, ReducedWindowsAreCutFromTheReducedPicture) {
  const TestPicture picture = make_picture(151, 117);
  const auto decoder = codec::find_picture_format("jpeg")->make_decoder();
  for (const JpegKind& kind :
       {JpegKind{}, JpegKind{.progressive = true}, JpegKind{.horizontal = 2, .vertical = 1}}) {
    const Bytes file = write_jpeg(picture.pixels, picture.size, kind);
    for (const int reduction : {1, 2, 4, 8}) {
      const codec::PixelSize size{(151 + reduction - 1) / reduction,
                                  (117 + reduction - 1) / reduction};
      const TestPicture expected{size, reference_decode(file, false, reduction)};
      for (const codec::Rect& window : windows_of(picture.size, 20)) {
        decoder->open(file, "test file");
        const codec::DecodedWindow found = decoder->decode(window, reduction);
        const int x = window.x / reduction, y = window.y / reduction;
        ASSERT_EQ(packed(found.pixels),
                  cropped(expected, {x, y, found.pixels.width, found.pixels.height}));
        EXPECT_DOUBLE_EQ(x + found.x, static_cast<double>(window.x) / reduction);
        EXPECT_DOUBLE_EQ(y + found.y, static_cast<double>(window.y) / reduction);
        EXPECT_DOUBLE_EQ(found.width * reduction, window.width);
        EXPECT_DOUBLE_EQ(found.height * reduction, window.height);
        EXPECT_LE(found.x + found.width, found.pixels.width);
        EXPECT_LE(found.y + found.height, found.pixels.height);
      }
    }
  }
}

}  // namespace
}  // namespace feedrate::tests
