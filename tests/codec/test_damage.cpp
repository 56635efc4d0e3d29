// Damaged files: always an Error where bytes are missing, never a crash or stale pixels, and the
// decoder is as good as new afterwards.
#include "jpeg_files.h"
#include "npz_files.h"
#include "png_files.h"

namespace feedrate::tests {
namespace {

// The files that are mutated; by name, so that a failing one is told apart.
Bytes file_of(const std::string& name, const TestPicture& picture) {
  if (name == "jpeg_progressive")
    return write_jpeg(picture.pixels, picture.size, {.progressive = true});
  if (name == "jpeg_cmyk") {
    Pixels values = picture.pixels;
    values.insert(values.end(), picture.pixels.begin(), picture.pixels.end());
    return write_jpeg(values, picture.size, {.channels = 4});
  }
  if (name == "png_interlaced") {
    const auto* first = reinterpret_cast<const std::byte*>(picture.pixels.data());
    return write_png({first, first + picture.pixels.size()}, picture.size, {.interlaced = true});
  }
  if (name == "npz_deflated") return write_npz(picture, {.deflated = true});
  if (name == "npz_streamed") return write_npz(picture, {.streamed = true});
  return encode(name.c_str(), picture);
}

class Damage : public testing::TestWithParam<const char*> {
 protected:
  Damage() {
    const std::string name = GetParam();
    const std::string format = name.substr(0, name.find('_'));
    decoder_ = codec::find_picture_format(format)->make_decoder();
    picture_ = make_picture(31, 23);
    file_ = file_of(name, picture_);
    good_file_ = file_of(name, make_picture(24, 33, 2));
    good_ = decode_whole(*decoder_, good_file_);
  }

  void expect_healthy() { EXPECT_EQ(decode_whole(*decoder_, good_file_).pixels, good_.pixels); }

  std::unique_ptr<codec::Decoder> decoder_;
  TestPicture picture_;
  Bytes file_;
  Bytes good_file_;
  TestPicture good_;
};
INSTANTIATE_TEST_SUITE_P(Files, Damage,
                         testing::Values("jpeg", "jpeg_progressive", "jpeg_cmyk", "png", "png0",
                                         "png_interlaced", "bmp", "webp", "npy", "npz",
                                         "npz_deflated", "npz_streamed", "raw"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(Damage, every_truncation_is_an_error) {
  for (std::size_t length = 0; length < file_.size(); ++length) {
    const Bytes cut(file_.begin(), file_.begin() + static_cast<std::ptrdiff_t>(length));
    ASSERT_THROW(decode_whole(*decoder_, cut), Error) << length << " of " << file_.size();
    EXPECT_THROW(decoder_->decode({0, 0, 1, 1}, 1), Error);  // nothing is left to hand out
    if (length % 16 == 0) expect_healthy();
  }
}

TEST_P(Damage, flipped_bits_never_crash) {
  std::minstd_rand random(11);
  for (int i = 0; i < 500; ++i) {
    Bytes mutant = file_;
    for (unsigned flips = 1 + random() % 3; flips > 0; --flips) {
      // Half of them in the headers, where they do most.
      const std::size_t range =
          flips % 2 != 0 ? mutant.size() : std::min<std::size_t>(mutant.size(), 200);
      mutant[random() % range] ^= std::byte{1} << (random() % 8);
    }
    try {
      const codec::PixelSize size = decoder_->open(mutant, "mutant");
      // A picture that is now larger is decoded in part only, to keep the test short.
      const codec::Rect window{0, 0, size.width,
                               std::max(1, std::min(size.height, 1'000'000 / size.width))};
      decoder_->decode(window, 1);
    } catch (const Error&) {
    }
    if (i % 10 == 0) expect_healthy();
  }
}

TEST_P(Damage, overwritten_runs_never_crash) {
  std::minstd_rand random(12);
  for (int i = 0; i < 100; ++i) {
    Bytes mutant = file_;
    const std::size_t at = random() % mutant.size();
    const std::size_t length = std::min<std::size_t>(1 + random() % 64, mutant.size() - at);
    std::fill_n(mutant.begin() + static_cast<std::ptrdiff_t>(at), length,
                std::byte(random() % 2 != 0 ? 0xff : 0x00));
    try {
      const codec::PixelSize size = decoder_->open(mutant, "mutant");
      decoder_->decode(
          {0, 0, size.width, std::max(1, std::min(size.height, 1'000'000 / size.width))}, 1);
    } catch (const Error&) {
    }
    if (i % 10 == 0) expect_healthy();
  }
}

TEST_P(Damage, no_pixels_of_the_picture_before_are_handed_out) {
  const Bytes cut(file_.begin(), file_.begin() + static_cast<std::ptrdiff_t>(file_.size() * 2 / 3));
  for (int i = 0; i < 50; ++i) {
    expect_healthy();
    EXPECT_THROW(decode_whole(*decoder_, cut), Error);
  }
}

}  // namespace
}  // namespace feedrate::tests
