// The decoders of libraries, beside our own: the same pixels, of more work.
#include "codec/decoders.h"

#include <cstdlib>

#include "jpeg_files.h"
#include "png_files.h"

namespace feedrate::tests {
namespace {

const codec::Format& format_named(const char* name) { return *codec::find_picture_format(name); }

class LibraryDecoder : public testing::TestWithParam<const char*> {
 protected:
  LibraryDecoder()
      : own_(format_named(GetParam()).make_decoder()),
        library_(codec::make_decoder(format_named(GetParam()), codec::DecoderKind::library)) {}

  const std::unique_ptr<codec::Decoder> own_, library_;
};
INSTANTIATE_TEST_SUITE_P(Formats, LibraryDecoder, testing::Values("jpeg", "png", "png0"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(LibraryDecoder, GivesThePixelsOfOurOwnAtEveryWindow) {
  for (const codec::PixelSize size : {codec::PixelSize{1, 1}, {5, 1}, {37, 29}, {64, 48}}) {
    const Bytes file = encode(GetParam(), make_picture(size.width, size.height));
    const TestPicture expected = decode_whole(*own_, file);
    EXPECT_EQ(decode_whole(*library_, file).size, size);
    for (const codec::Rect& window : windows_of(size, 10)) {
      ASSERT_EQ(decode(*library_, file, window), cropped(expected, window));
    }
  }
}

TEST_P(LibraryDecoder, DecodesAtThePicturesOwnSize) {
  const TestPicture picture = make_picture(64, 48);
  const Bytes file = encode(GetParam(), picture);
  const codec::Rect window{8, 4, 32, 40};
  const Pixels expected = decode(*own_, file, window);
  library_->open(file, "test file");
  const codec::DecodedWindow found = library_->decode(window, 8);
  EXPECT_EQ(packed(found.pixels), expected);
  EXPECT_EQ(found.x, 0);
  EXPECT_EQ(found.y, 0);
  EXPECT_EQ(found.width, window.width);
  EXPECT_EQ(found.height, window.height);
}

TEST_P(LibraryDecoder, RefusesEveryTruncation) {
  const Bytes file = encode(GetParam(), make_picture(31, 23)),
              good = encode(GetParam(), make_picture(24, 33, 2));
  const Pixels expected = decode_whole(*own_, good).pixels;
  for (std::size_t length = 0; length < file.size(); ++length) {
    const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
    ASSERT_THROW(decode(*library_, cut, {0, 0, 31, 1}), Error) << length << " of " << file.size();
    EXPECT_THROW(library_->decode({0, 0, 1, 1}, 1), Error);  // nothing is left to hand out
    if (length % 16 == 0) {
      EXPECT_EQ(decode_whole(*library_, good).pixels, expected);
    }
  }
}

TEST_P(LibraryDecoder, RefusesWindowsOutsideThePictureAndASecondDecode) {
  const Bytes file = encode(GetParam(), make_picture(16, 12));
  for (const codec::Rect& window :
       {codec::Rect{0, 0, 17, 12}, {0, 0, 16, 13}, {-1, 0, 2, 2}, {16, 0, 1, 1}, {0, 0, 0, 1}}) {
    library_->open(file, "p");
    EXPECT_THROW(library_->decode(window, 1), Error);
  }
  library_->open(file, "p");
  library_->decode({0, 0, 16, 12}, 1);
  EXPECT_THROW(library_->decode({0, 0, 1, 1}, 1), Error);
}

// Our own decoder does not read what lies below the window: here, what was cut off.
TEST(LibraryDecoders, DecodeWhatLiesBelowTheWindow) {
  const Bytes file = encode("jpeg", make_picture(160, 120));
  const Bytes cut(file.begin(), file.end() - 40);
  const codec::Rect top{0, 0, 160, 16};
  const auto own = format_named("jpeg").make_decoder(),
             library = format_named("jpeg").make_library_decoder();
  EXPECT_EQ(decode(*own, cut, top), decode(*own, file, top));
  EXPECT_NE(error_of([&] { decode(*library, cut, top); }).find("Premature end"), std::string::npos);
}

TEST(LibraryDecoders, ReadRareKindsOfFiles) {
  const auto own_jpeg = format_named("jpeg").make_decoder(),
             jpeg = format_named("jpeg").make_library_decoder();
  const codec::PixelSize size{45, 31};
  const Pixels values = make_picture(60, 31).pixels;  // as many bytes as 45 x 31 x 4
  for (const JpegKind& kind : {JpegKind{.channels = 1}, JpegKind{.channels = 4},
                               JpegKind{.progressive = true}, JpegKind{.arithmetic = true}}) {
    const auto bytes = static_cast<std::ptrdiff_t>(size.width) * size.height * kind.channels;
    const Bytes file = write_jpeg({values.begin(), values.begin() + bytes}, size, kind);
    EXPECT_EQ(decode_whole(*jpeg, file).pixels, decode_whole(*own_jpeg, file).pixels);
  }
  const auto own_png = format_named("png").make_decoder(),
             png = format_named("png").make_library_decoder();
  for (const PngKind& kind :
       {PngKind{.color_type = 0}, PngKind{.color_type = 3, .depth = 4}, PngKind{.color_type = 6},
        PngKind{.depth = 16}, PngKind{.interlaced = true}}) {
    Bytes samples(row_bytes_of(kind, size.width) * static_cast<std::size_t>(size.height));
    std::minstd_rand random(3);
    for (std::byte& b : samples) b = static_cast<std::byte>(random() >> 8);
    const Bytes file = write_png(samples, size, kind);
    EXPECT_EQ(decode_whole(*png, file).pixels, decode_whole(*own_png, file).pixels);
  }
}

TEST(LibraryDecoders, RefuseBombsByTheirHeader) {
  const auto jpeg = format_named("jpeg").make_library_decoder(),
             png = format_named("png").make_library_decoder();
  Bytes file = encode("jpeg", make_picture(16, 16));
  patch_jpeg_size(file, 65500, 65500);
  EXPECT_NE(error_of([&] { jpeg->open(file, "bomb"); }).find("limit"), std::string::npos);
  const Bytes header = write_png_header(30'000, 30'000);
  EXPECT_NE(error_of([&] { png->open(header, "bomb"); }).find("limit"), std::string::npos);
  const Bytes scans = write_many_scans({16, 16});
  EXPECT_NE(error_of([&] { decode_whole(*jpeg, scans); }).find("scans"), std::string::npos);
}

TEST(Decoders, AreFoundByNameAndKnowTheirFormats) {
  using codec::DecoderKind;
  EXPECT_EQ(codec::decoder_kind_from("library"), DecoderKind::library);
  EXPECT_EQ(codec::decoder_kind_from("opencv"), DecoderKind::opencv);
  EXPECT_EQ(codec::decoder_kind_from("auto"), DecoderKind::own);
  EXPECT_EQ(codec::decoder_kind_from("raw-read"), DecoderKind::own);
  std::string library, opencv;
  for (const codec::Format& format : codec::picture_formats()) {
    EXPECT_TRUE(codec::decodes(DecoderKind::own, format));
    if (codec::decodes(DecoderKind::library, format)) library += std::string(format.name) + " ";
    if (codec::decodes(DecoderKind::opencv, format)) opencv += std::string(format.name) + " ";
  }
  EXPECT_EQ(library, "jpeg png png0 ");
  EXPECT_EQ(opencv, "jpeg png png0 bmp ");
  EXPECT_NO_THROW(codec::check_decoder(DecoderKind::own));
  EXPECT_NO_THROW(codec::check_decoder(DecoderKind::library));
}

// Whichever the build has: without the module, who asks for it learns what to install.
TEST(Decoders, OpencvDecodesOrSaysWhatIsMissing) {
  const std::string missing = error_of([] { codec::check_decoder(codec::DecoderKind::opencv); });
  const TestPicture picture = make_picture(45, 31);
  for (const char* name : {"jpeg", "png", "png0", "bmp"}) {
    const codec::Format& format = format_named(name);
    std::unique_ptr<codec::Decoder> opencv;
    const std::string why =
        error_of([&] { opencv = codec::make_decoder(format, codec::DecoderKind::opencv); });
    EXPECT_EQ(why, missing);
    if (!opencv) {
      EXPECT_NE(missing.find("--decoder opencv: "), std::string::npos) << missing;
      EXPECT_NE(missing.find("libopencv-imgcodecs"), std::string::npos) << missing;
      continue;
    }
    const Bytes file = encode(name, picture);
    const TestPicture expected = decode_whole(*format.make_decoder(), file);
    for (const codec::Rect& window : windows_of(picture.size, 10)) {
      const Pixels found = decode(*opencv, file, window), wanted = cropped(expected, window);
      ASSERT_EQ(found.size(), wanted.size());
      double apart = 0;
      for (std::size_t i = 0; i < found.size(); ++i) apart += std::abs(found[i] - wanted[i]);
      EXPECT_LE(apart / static_cast<double>(found.size()), format.lossless ? 0 : 1) << name;
    }
    EXPECT_THROW(opencv->decode({0, 0, 1, 1}, 1), Error) << "once per open()";
  }
}

TEST(Decoders, OpencvIsGivenNoBombAndHandsOutNoHalfPng) {
  if (!error_of([] { codec::check_decoder(codec::DecoderKind::opencv); }).empty())
    GTEST_SKIP() << "this build has no OpenCV that decodes";
  const auto jpeg = codec::make_decoder(format_named("jpeg"), codec::DecoderKind::opencv),
             png = codec::make_decoder(format_named("png"), codec::DecoderKind::opencv);
  Bytes bomb = encode("jpeg", make_picture(16, 16));
  patch_jpeg_size(bomb, 65500, 65500);
  EXPECT_NE(error_of([&] { jpeg->open(bomb, "bomb"); }).find("limit"), std::string::npos);
  const Bytes file = encode("png", make_picture(45, 31));
  const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(file.size() / 2));
  EXPECT_THROW(decode_whole(*png, cut), Error);
}

}  // namespace
}  // namespace feedrate::tests
