#include "webp_files.h"

namespace feedrate::tests {
namespace {

TEST(Webp, LosslessPicturesAndThoseWithAlphaKeepTheirPixels) {
  const auto decoder = codec::find_picture_format("webp")->make_decoder();
  for (const codec::PixelSize size : {codec::PixelSize{1, 1}, {37, 29}, {64, 48}}) {
    const TestPicture picture = make_picture(size.width, size.height);
    for (const Bytes& file : {lossless_webp(picture), webp_with_alpha(picture)})
      for (const codec::Rect& window : windows_of(size, 10))
        EXPECT_EQ(decode(*decoder, file, window), cropped(picture, window));
  }
}

TEST(Webp, OfAnAnimationTheFirstPictureIsDecoded) {
  const auto decoder = codec::find_picture_format("webp")->make_decoder();
  const codec::PixelSize size{37, 29};
  const Bytes first = lossless_webp(make_picture(37, 29)),
              second = lossless_webp(make_picture(37, 29, 2));
  const Bytes file = animated_webp(size, first, second);
  for (const codec::Rect& window : windows_of(size, 10))
    EXPECT_EQ(decode(*decoder, file, window), cropped(make_picture(37, 29), window));
  for (std::size_t length = 0; length < file.size(); length += 13) {
    const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_THROW(decode_whole(*decoder, cut), Error) << length;
  }
}

TEST(Webp, WhatFollowsThePictureIsPassedOver) {
  const auto decoder = codec::find_picture_format("webp")->make_decoder();
  Bytes file = encode("webp", make_picture(37, 29));
  const Pixels expected = decode_whole(*decoder, file).pixels;
  file.resize(file.size() + 100);
  EXPECT_EQ(decode_whole(*decoder, file).pixels, expected);
}

TEST(Webp, ErrorsNameTheFileAndWhatIsWrong) {
  const auto decoder = codec::find_picture_format("webp")->make_decoder();
  const Bytes file = encode("webp", make_picture(37, 29));
  const auto refusal = [&](const Bytes& damaged) {
    return error_of([&] { decoder->open(damaged, "c/1.webp"); });
  };
  const std::string cut = refusal(Bytes(file.begin(), file.end() - 2));
  EXPECT_TRUE(cut.starts_with("c/1.webp: WebP: the file is cut off; ")) << cut;
  EXPECT_NE(refusal(encode("png", make_picture(4, 4))).find("not a WebP file"), std::string::npos);
}

}  // namespace
}  // namespace feedrate::tests
