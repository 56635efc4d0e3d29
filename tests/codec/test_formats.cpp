#include <gmock/gmock.h>

#include "pictures.h"

namespace feedrate::tests {
namespace {

class EveryFormat : public testing::TestWithParam<std::string> {
 protected:
  const codec::Format& format() const { return *codec::find_picture_format(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Formats, EveryFormat,
                         testing::Values("jpeg", "png", "png0", "bmp", "webp", "npy", "npz", "raw"),
                         [](const auto& test) { return test.param; });

TEST(Formats, are_listed_once_and_found_by_name) {
  std::vector<std::string> names;
  for (const codec::Format& format : codec::picture_formats()) {
    names.emplace_back(format.name);
    EXPECT_EQ(codec::find_picture_format(format.name), &format);
    EXPECT_TRUE(format.extension.starts_with("."));
    EXPECT_FALSE(format.help.empty());
    EXPECT_EQ(format.lossless, format.name != "jpeg" && format.name != "webp");
  }
  EXPECT_THAT(names,
              testing::ElementsAre("jpeg", "png", "png0", "bmp", "webp", "npy", "npz", "raw"));
  EXPECT_EQ(codec::find_picture_format("gif"), nullptr);
  EXPECT_EQ(codec::find_picture_format(""), nullptr);
}

TEST_P(EveryFormat, gives_back_its_pixels_at_every_window) {
  const auto decoder = format().make_decoder();
  for (const codec::PixelSize size :
       {codec::PixelSize{1, 1}, {2, 3}, {5, 1}, {1, 9}, {37, 29}, {64, 48}}) {
    const TestPicture picture = make_picture(size.width, size.height);
    const Bytes file = encode(format(), picture);
    const TestPicture decoded = decode_whole(*decoder, file);
    EXPECT_EQ(decoded.size, size);
    if (format().lossless) {
      EXPECT_EQ(decoded.pixels, picture.pixels);
    }
    for (const codec::Rect& window : windows_of(size, 10)) {
      EXPECT_EQ(decode(*decoder, file, window), cropped(decoded, window));
    }
  }
}

TEST_P(EveryFormat, encodes_a_view_with_a_stride) {
  const TestPicture picture = make_picture(20, 16);
  codec::PixelView view = picture.view();
  view.data += 2 * view.stride + 3 * 3;
  view.width = 11;
  view.height = 13;
  const TestPicture copy{{11, 13}, packed(view)};
  Bytes from_view;
  format().encode(view, {}, from_view);
  EXPECT_EQ(from_view, encode(format(), copy));
}

TEST_P(EveryFormat, encoding_replaces_the_output) {
  const TestPicture picture = make_picture(9, 7);
  Bytes file(100'000, std::byte{1});
  format().encode(picture.view(), {}, file);
  EXPECT_EQ(file, encode(format(), picture));
}

TEST_P(EveryFormat, refuses_windows_outside_the_picture) {
  const Bytes file = encode(format(), make_picture(16, 12));
  const auto decoder = format().make_decoder();
  const int huge = 2147483647;
  for (const codec::Rect& window : {codec::Rect{0, 0, 17, 12},
                                    {0, 0, 16, 13},
                                    {-1, 0, 2, 2},
                                    {0, -1, 2, 2},
                                    {16, 0, 1, 1},
                                    {0, 12, 1, 1},
                                    {0, 0, 0, 1},
                                    {0, 0, 1, 0},
                                    {huge, 0, huge, 1},
                                    {0, huge, 1, huge},
                                    {1, 1, huge, huge}}) {
    decoder->open(file, "p");
    EXPECT_THROW(decoder->decode(window, 1), Error);
  }
}

TEST_P(EveryFormat, hands_out_nothing_without_an_open_picture) {
  const auto decoder = format().make_decoder();
  EXPECT_THROW(decoder->decode({0, 0, 1, 1}, 1), Error);
  const Bytes file = encode(format(), make_picture(16, 12));
  decoder->open(file, "p");
  decoder->decode({0, 0, 16, 12}, 1);
  EXPECT_THROW(decoder->decode({0, 0, 1, 1}, 1), Error);  // once per open()
  EXPECT_THROW(decoder->open({}, "empty"), Error);
  EXPECT_THROW(decoder->decode({0, 0, 1, 1}, 1), Error);
}

TEST_P(EveryFormat, may_be_opened_and_not_decoded) {
  const auto decoder = format().make_decoder();
  const TestPicture picture = make_picture(16, 12);
  const Bytes file = encode(format(), picture), other = encode(format(), make_picture(31, 40, 2));
  const Pixels expected = decode_whole(*decoder, file).pixels;
  decoder->open(other, "other");
  EXPECT_EQ(decode_whole(*decoder, file).pixels, expected);
}

TEST(Formats, png_levels_differ_in_size_alone) {
  const TestPicture picture = make_picture(64, 64);
  const Bytes fast = encode("png", picture, {.png_level = 1});
  const Bytes stored = encode("png0", picture, {.png_level = 9});
  EXPECT_EQ(stored, encode("png", picture, {.png_level = 0}));
  EXPECT_LT(fast.size(), stored.size());
  EXPECT_GE(stored.size(), picture.pixels.size());
  const auto decoder = codec::find_picture_format("png")->make_decoder();
  EXPECT_EQ(decode_whole(*decoder, fast).pixels, picture.pixels);
  EXPECT_EQ(decode_whole(*decoder, stored).pixels, picture.pixels);
}

TEST(Formats, wrong_encoding_options_are_usage_errors) {
  const TestPicture picture = make_picture(8, 8);
  EXPECT_THROW(encode("jpeg", picture, {.jpeg_quality = 0}), UsageError);
  EXPECT_THROW(encode("jpeg", picture, {.jpeg_quality = 101}), UsageError);
  EXPECT_THROW(encode("jpeg", picture, {.subsampling = "411"}), UsageError);
  EXPECT_THROW(encode("png", picture, {.png_level = 10}), UsageError);
  EXPECT_THROW(encode("webp", picture, {.jpeg_quality = 0}), UsageError);
}

}  // namespace
}  // namespace feedrate::tests
