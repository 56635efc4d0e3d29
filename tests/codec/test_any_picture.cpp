// Pictures whose names say one thing and whose bytes another.
#include "codec/any_picture.h"

#include <gmock/gmock.h>

#include "codec/sniff.h"
#include "jpeg_files.h"
#include "png_files.h"
#include "tests/mutated.h"

namespace feedrate::tests {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Bytes bytes_of_text(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

// As much of a file of that kind as tells it.
const std::vector<std::pair<std::string, std::string>> kUndecoded = {
    {std::string("GIF89a\1\0\1\0\x80\0\0", 13), "a GIF"},
    {std::string("GIF87a\1\0\1\0\x80\0\0", 13), "a GIF"},
    {std::string("II*\0\x08\0\0\0", 8), "a TIFF"},
    {std::string("MM\0*\0\0\0\x08", 8), "a TIFF"},
    {std::string("\0\0\0\x18"
                 "ftypheic\0\0\0\0",
                 16),
     "a HEIC or HEIF picture"},
    {std::string("\0\0\0\x18"
                 "ftypmif1\0\0\0\0",
                 16),
     "a HEIC or HEIF picture"},
    {std::string("\0\0\0\x18"
                 "ftypavif\0\0\0\0",
                 16),
     "an AVIF"},
};

Bytes with_inserted(Bytes file, std::size_t at, const Bytes& more) {
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(at), more.begin(), more.end());
  return file;
}

// Of the first marker of that kind.
std::size_t marker_in(const Bytes& file, int kind) {
  for (std::size_t i = 0; i + 1 < file.size(); ++i)
    if (file[i] == std::byte{0xff} && file[i + 1] == static_cast<std::byte>(kind)) return i;
  ADD_FAILURE() << "no marker " << kind;
  return 0;
}

TEST(Sniff, KnowsEveryFormatThatIsWritten) {
  for (const codec::Format& format : codec::picture_formats()) {
    const std::string_view expected = format.name == "png0" ? "png" : format.name;
    EXPECT_EQ(codec::sniff(encode(format, make_picture(9, 7))).format, expected);
  }
}

TEST(Sniff, NamesWhatIsNotDecoded) {
  for (const auto& [file, name] : kUndecoded) {
    const codec::FileKind kind = codec::sniff(bytes_of_text(file));
    EXPECT_EQ(kind.name, name);
    EXPECT_EQ(kind.format, "") << name;
  }
  for (const char* text : {"", "G", "GIF", "RIFF....WAVE", "<html>", "\xff\xd8", "P6 1 1 255"})
    EXPECT_EQ(codec::sniff(bytes_of_text(text)).name, "") << text;
}

TEST(AnyPicture, IsDecodedByItsContents) {
  const auto any = codec::any_picture_format().make_decoder();
  for (int round = 0; round < 2; ++round) {
    for (const codec::Format& format : codec::picture_formats()) {
      const Bytes file = encode(format, make_picture(31, 23));
      const auto own = format.make_decoder();
      const TestPicture expected = decode_whole(*own, file);
      for (const codec::Rect& window : windows_of(expected.size, 5))
        EXPECT_EQ(decode(*any, file, window), cropped(expected, window)) << format.name;
    }
  }
}

TEST(AnyPicture, ThatIsNotDecodedIsNamed) {
  const auto any = codec::any_picture_format().make_decoder();
  const auto refusal = [&](const Bytes& file) {
    return error_of([&] { any->open(file, "class_1/7.jpg"); });
  };
  const Bytes good = encode("jpeg", make_picture(20, 20));
  const Pixels expected = decode_whole(*any, good).pixels;
  for (const auto& [file, name] : kUndecoded) {
    any->open(good, "good");
    EXPECT_THAT(refusal(bytes_of_text(file)),
                AllOf(StartsWith("class_1/7.jpg: is " + name + ", which feedrate does not decode"),
                      HasSubstr("--on-bad skip")));
    EXPECT_THROW(any->decode({0, 0, 1, 1}, 1), Error) << "of the picture before";
    EXPECT_EQ(decode_whole(*any, good).pixels, expected);
  }
  EXPECT_THAT(refusal({}), HasSubstr("is empty"));
  EXPECT_THAT(refusal(bytes_of_text("<html>")), HasSubstr("is of no picture format that is known"));
}

TEST(AnyPicture, IsHandedOutOnce) {
  const auto any = codec::any_picture_format().make_decoder();
  EXPECT_THROW(any->decode({0, 0, 1, 1}, 1), Error);
  any->open(encode("bmp", make_picture(4, 4)), "p");
  EXPECT_THROW(any->open(bytes_of_text("GIF89a"), "q"), Error);
  EXPECT_THROW(any->decode({0, 0, 1, 1}, 1), Error);
  const Bytes file = encode("png", make_picture(4, 4));
  any->open(file, "p");
  any->decode({0, 0, 4, 4}, 1);
  EXPECT_THROW(any->decode({0, 0, 1, 1}, 1), Error);
}

TEST(AnyPicture, MutantsAreRefusedOrDecoded) {
  const auto any = codec::any_picture_format().make_decoder();
  const Bytes good = encode("png", make_picture(24, 33, 2));
  const Pixels expected = decode_whole(*any, good).pixels;
  std::vector<std::string> seeds = {std::string("RIFF\x40\0\0\0WEBPVP8 \x34\0\0\0", 20),
                                    std::string("RIFF\x40\0\0\0WEBPVP8X\x0a\0\0\0", 20)};
  for (const auto& [file, name] : kUndecoded) seeds.push_back(file);
  Random random(5);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string file = seeds[static_cast<std::size_t>(i) % seeds.size()];
    for (int more = 0; more < 64; ++more) file += static_cast<char>(random.below(256));
    refused += !error_of([&] { decode_whole(*any, bytes_of_text(mutated(file, random))); }).empty();
    if (i % 50 == 0) {
      EXPECT_EQ(decode_whole(*any, good).pixels, expected);
    }
  }
  EXPECT_EQ(refused, 2000);
}

TEST(Formats, NamesAreToldInAnyCase) {
  const codec::Format& jpeg = *codec::find_picture_format("jpeg");
  for (const char* name : {"a.jpg", "A.JPEG", "b/c.d.Jpg"}) EXPECT_TRUE(jpeg.names(name)) << name;
  for (const char* name : {"a.png", ".jpg", "jpg", "a.jpg.txt", ""})
    EXPECT_FALSE(jpeg.names(name)) << name;
  EXPECT_THAT(codec::endings_of("jpeg"), ElementsAre(".jpg", ".jpeg"));
  EXPECT_THAT(codec::endings_of("auto"), ElementsAre(".jpg", ".jpeg", ".png", ".bmp", ".webp"));
  EXPECT_THAT(codec::endings_of("tensor"), ElementsAre());
}

// Padding before a marker, which libjpeg warns of and passes over.
TEST(Jpeg, StrayBytesBeforeAMarkerAreNoDamage) {
  const TestPicture picture = make_picture(67, 45);
  const Bytes stray = {std::byte{0x12}, std::byte{0x34}, std::byte{0x56}};
  const auto decoder = codec::find_picture_format("jpeg")->make_decoder();
  for (const bool progressive : {false, true}) {
    const Bytes file = write_jpeg(picture.pixels, picture.size, {.progressive = progressive});
    const Pixels expected = decode_whole(*decoder, file).pixels;
    for (const int kind : {0xdb, 0xc4, 0xda}) {  // quantisation, codes, scan
      const Bytes padded = with_inserted(file, marker_in(file, kind), stray);
      EXPECT_EQ(decode_whole(*decoder, padded).pixels, expected) << kind << " " << progressive;
    }
    const Bytes padded = with_inserted(file, file.size() - 2, stray);  // before the end
    EXPECT_EQ(decode_whole(*decoder, padded).pixels, expected) << "end, " << progressive;
  }
}

// "", "before a marker", "behind the end", "both"
std::string stray_in(codec::Decoder& decoder, const Bytes& file, const codec::Rect& window) {
  decode(decoder, file, window);
  const codec::StrayBytes stray = decoder.stray_bytes();
  return stray.before_marker && stray.behind_end ? "both"
         : stray.before_marker                   ? "before a marker"
         : stray.behind_end                      ? "behind the end"
                                                 : "";
}

// What our own decoder says of a whole picture, libjpeg says, too; it reads some eight bytes ahead,
// and does not miss them before a marker.
TEST(Jpeg, StrayBytesAreTold) {
  const TestPicture picture = make_picture(67, 45);
  const codec::Rect all = whole(picture.size), corner{0, 0, 8, 8};
  const Bytes stray(40, std::byte{0x12});
  const codec::Format& format = *codec::find_picture_format("jpeg");
  const auto own = format.make_decoder(), library = format.make_library_decoder(),
             any = codec::any_picture_format().make_decoder();
  const JpegKind kinds[] = {
      {}, {.progressive = true}, {.horizontal = 1, .vertical = 1}, {.restart_rows = 1}};
  for (const JpegKind& kind : kinds) {
    const Bytes file = write_jpeg(picture.pixels, picture.size, kind);
    const Bytes padded = with_inserted(file, marker_in(file, 0xdb), stray),
                ending = with_inserted(file, file.size() - 2, stray),
                behind = with_inserted(file, file.size(), stray),
                both = with_inserted(padded, padded.size(), stray);
    for (codec::Decoder* decoder : {own.get(), library.get(), any.get()}) {
      EXPECT_EQ(stray_in(*decoder, both, all), "both");
      EXPECT_EQ(stray_in(*decoder, file, all), "") << "nothing is left of the picture before";
      EXPECT_EQ(stray_in(*decoder, padded, all), "before a marker");
      EXPECT_EQ(stray_in(*decoder, ending, all), "before a marker");
      EXPECT_EQ(stray_in(*decoder, behind, all), "behind the end");
      EXPECT_EQ(stray_in(*decoder, file, corner), "");
      EXPECT_EQ(stray_in(*decoder, padded, corner), "before a marker");
      EXPECT_EQ(stray_in(*decoder, behind, corner), "behind the end");
    }
  }
  const Bytes restarts = write_jpeg(picture.pixels, picture.size, {.restart_rows = 1});
  const Bytes inside = with_inserted(restarts, marker_in(restarts, 0xd0), {std::byte{0x12}});
  EXPECT_EQ(stray_in(*own, inside, all), "before a marker");
}

TEST(AnyPicture, BytesBehindAPictureAreTold) {
  const TestPicture picture = make_picture(31, 23);
  const auto any = codec::any_picture_format().make_decoder();
  EXPECT_FALSE(any->stray_bytes().any()) << "before the first";
  const auto* first = reinterpret_cast<const std::byte*>(picture.pixels.data());
  const Bytes rows(first, first + picture.pixels.size());
  const Bytes files[] = {encode("png", picture), encode("png0", picture),
                         write_png(rows, picture.size, {.interlaced = true}),
                         encode("bmp", picture), encode("webp", picture)};
  for (const Bytes& file : files) {
    const Bytes behind = with_inserted(file, file.size(), bytes_of_text("x"));
    for (const codec::Rect& window : windows_of(picture.size, 0)) {
      EXPECT_EQ(stray_in(*any, behind, window), "behind the end") << file.size();
      EXPECT_EQ(stray_in(*any, file, window), "") << file.size();
    }
  }
  for (const char* format : {"npy", "npz", "raw"})
    EXPECT_EQ(stray_in(*any, encode(format, picture), whole(picture.size)), "") << format;
}

TEST(Jpeg, WhatFollowsThePictureIsPassedOver) {
  const TestPicture picture = make_picture(67, 45);
  const auto decoder = codec::find_picture_format("jpeg")->make_decoder();
  for (const bool progressive : {false, true}) {
    const Bytes file = write_jpeg(picture.pixels, picture.size, {.progressive = progressive});
    const Pixels expected = decode_whole(*decoder, file).pixels;
    // Another picture, as in an MPO, or anything.
    for (const Bytes& more : {encode("jpeg", make_picture(20, 30)), bytes_of_text("trailing")})
      EXPECT_EQ(decode_whole(*decoder, with_inserted(file, file.size(), more)).pixels, expected);
  }
}

TEST(Png, OfAnAnimationIsTheFirstPicture) {
  const TestPicture picture = make_picture(37, 29);
  const auto* first = reinterpret_cast<const std::byte*>(picture.pixels.data());
  const Bytes rows(first, first + picture.pixels.size());
  const auto decoder = codec::find_picture_format("png")->make_decoder();
  // The second is decoded by libspng.
  for (const bool interlaced : {false, true}) {
    const Bytes still = write_png(rows, picture.size, {.interlaced = interlaced});
    Bytes before, behind;
    append_chunk(before, "acTL", Bytes(8));
    append_chunk(before, "fcTL", Bytes(26));
    append_chunk(behind, "fcTL", Bytes(26));
    append_chunk(behind, "fdAT", Bytes(40));
    constexpr std::size_t kBehindHeader = 8 + 25, kEnd = 12;
    const Bytes moving =
        with_inserted(with_inserted(still, still.size() - kEnd, behind), kBehindHeader, before);
    EXPECT_EQ(decode_whole(*decoder, moving).pixels, picture.pixels) << interlaced;
  }
}

}  // namespace
}  // namespace feedrate::tests
