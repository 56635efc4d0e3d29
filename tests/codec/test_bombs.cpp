// Files whose headers ask for far more memory than a picture may take.
#include <sys/resource.h>

#include "codec/any_picture.h"
#include "codec/bytes.h"
#include "codec/tensor.h"
#include "jpeg_files.h"
#include "png_files.h"
#include "undecoded_files.h"
#include "webp_files.h"

namespace feedrate::tests {
namespace {

long peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

// Expects an Error that speaks of the limit, from the header alone.
template <typename Open>
void expect_refused(const Open& open) {
  const long before = peak_megabytes();
  const std::string message = error_of(open);
  EXPECT_NE(message.find("limit"), std::string::npos) << message;
  EXPECT_LT(peak_megabytes() - before, 32);
}

void expect_refused(const char* format, const Bytes& file) {
  const auto decoder = codec::find_picture_format(format)->make_decoder();
  expect_refused([&] { decoder->open(file, "bomb"); });
}

TEST(Bombs, png) {
  expect_refused("png", write_png_header(30'000, 30'000));
  expect_refused("png", write_png_header(1 << 27, 1));
  const auto decoder = codec::find_picture_format("png")->make_decoder();
  EXPECT_THROW(decoder->open(write_png_header(0x7fffffff, 0x7fffffff), "bomb"), Error);
}

TEST(Bombs, jpeg) {
  for (const bool progressive : {false, true}) {
    Bytes file = write_jpeg(make_picture(16, 16).pixels, {16, 16}, {.progressive = progressive});
    patch_jpeg_size(file, 65500, 65500);
    expect_refused("jpeg", file);
  }
}

TEST(Bombs, bmp_raw_tensor) {
  Bytes bmp = encode("bmp", make_picture(4, 4));
  codec::store_le(&bmp[18], 65535u);
  codec::store_le(&bmp[22], 65535u);
  expect_refused("bmp", bmp);
  Bytes raw = encode("raw", make_picture(4, 4));
  codec::store_le(&raw[8], 0xffffffffu);
  codec::store_le(&raw[12], 0xffffffffu);
  expect_refused("raw", raw);
  Bytes tensor;
  codec::encode_tensor(make_picture(4, 4).view(), codec::Dtype::fp32, tensor);
  codec::store_le(&tensor[12], 0x80000000u);
  codec::store_le(&tensor[16], 0x80000000u);
  expect_refused([&] { codec::parse_tensor(tensor, "bomb"); });
}

TEST(Bombs, webp) {
  Bytes file = encode("webp", make_picture(16, 16));
  codec::store_le(&file[26], std::uint16_t{0x3fff});
  codec::store_le(&file[28], std::uint16_t{0x3fff});
  expect_refused("webp", file);
}

// Its canvas may be of any size.
TEST(Bombs, webp_animation) {
  const Bytes picture = lossless_webp(make_picture(16, 16));
  Bytes file = animated_webp({65535, 65535}, picture, picture);
  expect_refused("webp", file);
  const auto any = codec::any_picture_format().make_decoder();
  const std::string refusal = error_of([&] { any->open(file, "c/1.jpg"); });
  EXPECT_TRUE(refusal.starts_with("c/1.jpg: its header says 65535x65535 pixels, more than the"))
      << refusal;
  file[20] = std::byte{0};  // no animation: its picture is another
  EXPECT_THROW(any->open(file, "c/1.jpg"), Error);
}

TEST(Bombs, of_formats_that_are_not_decoded) {
  const auto any = codec::any_picture_format().make_decoder();
  const auto refusal = [&](const Bytes& file) {
    return error_of([&] { any->open(file, "c/1.jpg"); });
  };
  const long before = peak_megabytes();
  const std::string gif = refusal(write_gif(65535, 65535)),
                    tiff = refusal(write_tiff(65535, 65535));
  EXPECT_TRUE(gif.starts_with("c/1.jpg: is a GIF, which feedrate does not decode; ")) << gif;
  EXPECT_TRUE(tiff.starts_with("c/1.jpg: is a TIFF, which feedrate does not decode; ")) << tiff;
  EXPECT_LT(peak_megabytes() - before, 32);
}

TEST(Bombs, zero_sizes) {
  Bytes jpeg = encode("jpeg", make_picture(16, 16));
  patch_jpeg_size(jpeg, 16, 0);
  EXPECT_THROW(codec::find_picture_format("jpeg")->make_decoder()->open(jpeg, "p"), Error);
  EXPECT_THROW(codec::find_picture_format("png")->make_decoder()->open(write_png_header(0, 5), "p"),
               Error);
  Bytes raw = encode("raw", make_picture(4, 4));
  codec::store_le(&raw[8], 0u);
  EXPECT_THROW(codec::find_picture_format("raw")->make_decoder()->open(raw, "p"), Error);
}

TEST(Bombs, an_oversized_text_chunk_is_not_kept) {
  // 40 MB of text in a picture of one pixel: refused or passed over, but never copied.
  Bytes samples(3, std::byte{1});
  Bytes file = write_png(samples, {1, 1}, {});
  Bytes text;
  for (const char c : {'a', '\0', '\0'}) text.push_back(static_cast<std::byte>(c));
  text.resize(40'000'000);
  Bytes with_text(file.begin(), file.begin() + 33);  // signature and IHDR
  append_chunk(with_text, "zTXt", text);
  with_text.insert(with_text.end(), file.begin() + 33, file.end());
  const auto decoder = codec::find_picture_format("png")->make_decoder();
  const long before = peak_megabytes();
  error_of([&] { decode_whole(*decoder, with_text); });
  EXPECT_LT(peak_megabytes() - before, 32);
}

}  // namespace
}  // namespace feedrate::tests
