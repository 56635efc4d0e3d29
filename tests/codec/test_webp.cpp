// WebP files that the program's own encoder does not write.
#include <webp/encode.h>

#include "codec/bytes.h"
#include "pictures.h"

namespace feedrate::tests {
namespace {

Bytes owned_webp(std::uint8_t* file, std::size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(file);
  Bytes bytes(first, first + size);
  WebPFree(file);
  return bytes;
}

Bytes lossless_webp(const TestPicture& picture) {
  std::uint8_t* file = nullptr;
  const std::size_t size =
      WebPEncodeLosslessRGB(picture.pixels.data(), picture.size.width, picture.size.height,
                            picture.size.width * 3, &file);
  return owned_webp(file, size);
}

// Each pixel with an alpha of its own, not 0: what nobody sees, the encoder may change.
Bytes webp_with_alpha(const TestPicture& picture) {
  Pixels rgba;
  for (std::size_t i = 0; i < picture.pixels.size(); i += 3) {
    rgba.insert(rgba.end(), picture.pixels.begin() + static_cast<std::ptrdiff_t>(i),
                picture.pixels.begin() + static_cast<std::ptrdiff_t>(i + 3));
    rgba.push_back(static_cast<std::uint8_t>(1 + i % 255));
  }
  std::uint8_t* file = nullptr;
  const std::size_t size = WebPEncodeLosslessRGBA(
      rgba.data(), picture.size.width, picture.size.height, picture.size.width * 4, &file);
  return owned_webp(file, size);
}

void append_webp_chunk(Bytes& to, std::string_view name, const Bytes& content) {
  const auto* type = reinterpret_cast<const std::byte*>(name.data());
  to.insert(to.end(), type, type + 4);
  to.resize(to.size() + 4);
  codec::store_le(&to[to.size() - 4], static_cast<std::uint32_t>(content.size()));
  to.insert(to.end(), content.begin(), content.end());
  if (content.size() % 2 != 0) to.push_back(std::byte{0});
}

void store_24(std::byte* to, int value) {
  for (int i = 0; i < 3; ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

// An animation of two pictures of one size, each a file of one chunk.
Bytes animated_webp(codec::PixelSize size, const Bytes& first, const Bytes& second) {
  Bytes extended(10), chunks;
  extended[0] = std::byte{2};  // it is an animation
  store_24(&extended[4], size.width - 1);
  store_24(&extended[7], size.height - 1);
  append_webp_chunk(chunks, "VP8X", extended);
  append_webp_chunk(chunks, "ANIM", Bytes(6));
  for (const Bytes& picture : {first, second}) {
    Bytes frame(16);
    store_24(&frame[6], size.width - 1);
    store_24(&frame[9], size.height - 1);
    frame[12] = std::byte{100};  // ms
    frame.insert(frame.end(), picture.begin() + 12, picture.end());
    append_webp_chunk(chunks, "ANMF", frame);
  }
  Bytes form;
  const auto* name = reinterpret_cast<const std::byte*>("WEBP");
  form.insert(form.end(), name, name + 4);
  form.insert(form.end(), chunks.begin(), chunks.end());
  Bytes file;
  append_webp_chunk(file, "RIFF", form);
  return file;
}

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
