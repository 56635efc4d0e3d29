#include "png_files.h"

namespace feedrate::tests {
namespace {

class PngKinds : public testing::TestWithParam<PngKind> {};
std::vector<PngKind> every_kind() {
  std::vector<PngKind> kinds;
  for (const bool interlaced : {false, true}) {
    for (const int depth : {1, 2, 4, 8, 16}) kinds.push_back({0, depth, interlaced});
    for (const int depth : {1, 2, 4, 8}) kinds.push_back({3, depth, interlaced});
    for (const int type : {2, 4, 6}) {
      for (const int depth : {8, 16}) kinds.push_back({type, depth, interlaced});
    }
  }
  return kinds;
}
INSTANTIATE_TEST_SUITE_P(Kinds, PngKinds, testing::ValuesIn(every_kind()), [](const auto& test) {
  return "type" + std::to_string(test.param.color_type) + "_depth" +
         std::to_string(test.param.depth) + (test.param.interlaced ? "_interlaced" : "");
});

// Sample `index` of a row, and what it means in 8 bits.
int sample_at(std::span<const std::byte> row, int index, int depth) {
  if (depth == 16) return std::to_integer<int>(row[static_cast<std::size_t>(index) * 2]);  // cut
  const int bit = index * depth;
  const int byte = std::to_integer<int>(row[static_cast<std::size_t>(bit / 8)]);
  return byte >> (8 - depth - bit % 8) & ((1 << depth) - 1);
}

TestPicture expected_of(const Bytes& samples, codec::PixelSize size, const PngKind& kind) {
  TestPicture picture{size, {}};
  const int channels = channels_of(kind);
  const std::size_t row_bytes = row_bytes_of(kind, size.width);
  for (int y = 0; y < size.height; ++y) {
    const auto row = std::span(samples).subspan(static_cast<std::size_t>(y) * row_bytes, row_bytes);
    for (int x = 0; x < size.width; ++x) {
      std::uint8_t rgb[3];
      for (int c = 0; c < 3; ++c) {
        const bool color = kind.color_type == 2 || kind.color_type == 6;
        const int value = sample_at(row, x * channels + (color ? c : 0), kind.depth);
        const int highest = kind.depth >= 8 ? 255 : (1 << kind.depth) - 1;
        rgb[c] = static_cast<std::uint8_t>(value * 255 / highest);
        if (kind.color_type == 3) {
          std::uint8_t entry[3];
          palette_entry(value, entry);
          rgb[c] = entry[c];
        }
      }
      picture.pixels.insert(picture.pixels.end(), rgb, rgb + 3);
    }
  }
  return picture;
}

TEST_P(PngKinds, become_rgb) {
  const auto decoder = codec::find_picture_format("png")->make_decoder();
  for (const codec::PixelSize size : {codec::PixelSize{1, 1}, {3, 2}, {17, 13}, {32, 21}}) {
    Bytes samples(row_bytes_of(GetParam(), size.width) * static_cast<std::size_t>(size.height));
    std::minstd_rand random(3);
    for (std::byte& b : samples) b = static_cast<std::byte>(random() >> 8);
    const Bytes file = write_png(samples, size, GetParam());
    const TestPicture expected = expected_of(samples, size, GetParam());
    for (const codec::Rect& window : windows_of(size, 6)) {
      ASSERT_EQ(decode(*decoder, file, window), cropped(expected, window))
          << size.width << "x" << size.height << " at " << window.x << "," << window.y << " "
          << window.width << "x" << window.height;
    }
  }
}

TEST(Png, bad_checksums_are_errors) {
  const TestPicture picture = make_picture(40, 30);
  const Bytes good = encode("png", picture);
  const auto decoder = codec::find_picture_format("png")->make_decoder();
  for (const std::size_t from_end : {std::size_t{1}, std::size_t{13}}) {  // of IEND, of IDAT
    Bytes file = good;
    file[file.size() - from_end] ^= std::byte{1};
    EXPECT_THROW(decode_whole(*decoder, file), Error) << from_end;
  }
  Bytes header = good;
  header[8 + 8 + 13] ^= std::byte{1};
  EXPECT_THROW(decode_whole(*decoder, header), Error);
}

TEST(Png, a_large_picture_in_one_chunk_is_read) {
  const codec::PixelSize size{3000, 2000};  // 18 MB in one IDAT
  Bytes samples(static_cast<std::size_t>(size.width * size.height * 3), std::byte{9});
  const auto decoder = codec::find_picture_format("png")->make_decoder();
  const Bytes file = write_png(samples, size, {});
  EXPECT_EQ(decode(*decoder, file, {2990, 1990, 10, 10}), Pixels(300, 9));
}

TEST(Png, is_cut_off_even_where_the_window_is_whole) {
  const TestPicture picture = make_picture(64, 200);
  const Bytes file = encode("png", picture);
  const auto decoder = codec::find_picture_format("png")->make_decoder();
  const Bytes cut(file.begin(), file.end() - 13);
  EXPECT_THROW(decode(*decoder, cut, {0, 0, 8, 8}), Error);
}

}  // namespace
}  // namespace feedrate::tests
