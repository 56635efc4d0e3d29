#include <algorithm>

#include "codec/bytes.h"
#include "pictures.h"

namespace feedrate::tests {
namespace {

Bytes bytes_of(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

TEST(Bmp, is_laid_out_as_the_format_says) {
  const TestPicture picture{{2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
  const Bytes file = encode("bmp", picture);
  ASSERT_EQ(file.size(), 54u + 16u);
  EXPECT_EQ(codec::load_le<std::uint32_t>(&file[2]), file.size());
  EXPECT_EQ(codec::load_le<std::uint32_t>(&file[10]), 54u);
  const Bytes rows(file.begin() + 54, file.end());
  EXPECT_EQ(rows,
            bytes_of(std::string("\x09\x08\x07\x0c\x0b\x0a\0\0\x03\x02\x01\x06\x05\x04\0\0", 16)));
}

// Rewrites a 24-bit bottom-up file in the other ways that are read.
Bytes rewritten(const TestPicture& picture, int bits, bool top_down, int info_bytes) {
  Bytes file(static_cast<std::size_t>(14 + info_bytes));
  std::memcpy(file.data(), "BM", 2);
  codec::store_le(&file[10], static_cast<std::uint32_t>(file.size()));
  codec::store_le(&file[14], static_cast<std::uint32_t>(info_bytes));
  codec::store_le(&file[18], static_cast<std::uint32_t>(picture.size.width));
  codec::store_le(
      &file[22], static_cast<std::uint32_t>(top_down ? -picture.size.height : picture.size.height));
  codec::store_le(&file[26], std::uint16_t{1});
  codec::store_le(&file[28], static_cast<std::uint16_t>(bits));
  for (int i = 0; i < picture.size.height; ++i) {
    const int y = top_down ? i : picture.size.height - 1 - i;
    for (int x = 0; x < picture.size.width; ++x) {
      const std::uint8_t* rgb =
          &picture.pixels[static_cast<std::size_t>((y * picture.size.width + x) * 3)];
      for (int c = 2; c >= 0; --c) file.push_back(std::byte{rgb[c]});
      if (bits == 32) file.push_back(std::byte{0x55});
    }
    while ((file.size() - static_cast<std::size_t>(14 + info_bytes)) % 4 != 0)
      file.push_back(std::byte{0});
  }
  codec::store_le(&file[2], static_cast<std::uint32_t>(file.size()));
  return file;
}

TEST(Bmp, is_read_in_24_and_32_bits_either_way_up) {
  const auto decoder = codec::find_picture_format("bmp")->make_decoder();
  const TestPicture picture = make_picture(13, 9);
  for (const int bits : {24, 32}) {
    for (const bool top_down : {false, true}) {
      for (const int info_bytes : {40, 108, 124}) {
        const Bytes file = rewritten(picture, bits, top_down, info_bytes);
        for (const codec::Rect& window : windows_of(picture.size, 8)) {
          ASSERT_EQ(decode(*decoder, file, window), cropped(picture, window));
        }
      }
    }
  }
}

TEST(Bmp, headers_that_lie_are_refused) {
  const auto decoder = codec::find_picture_format("bmp")->make_decoder();
  const Bytes good = encode("bmp", make_picture(8, 8));
  const struct {
    std::size_t at;
    std::uint32_t value;
  } lies[] = {{2, 0xffffffff},  {10, 0xffffffff}, {10, 0},          {10, 55},         {14, 12},
              {14, 0xffffffff}, {18, 0},          {18, 0x7fffffff}, {18, 0xffffffff}, {22, 0},
              {22, 0x80000000}, {22, 0x7fffffff}, {22, 9},          {28, 16},         {28, 8},
              {30, 1},          {30, 3}};
  for (const auto& lie : lies) {
    Bytes file = good;
    codec::store_le(&file[lie.at], lie.value);
    EXPECT_THROW(decoder->open(file, "p"), Error) << lie.at << " " << lie.value;
  }
}

Bytes npy_of(std::string text, std::size_t payload) {
  std::string file("\x93NUMPY\x01\x00", 8);
  file.push_back(static_cast<char>(text.size() & 255));
  file.push_back(static_cast<char>(text.size() >> 8));
  return bytes_of(file + text + std::string(payload, '\7'));
}

TEST(Npy, is_written_byte_for_byte_as_numpy_does) {
  const TestPicture picture = make_picture(5, 4);
  const Bytes file = encode("npy", picture);
  const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 5, 3), }" +
                             std::string(55, ' ') + "\n";
  ASSERT_EQ(file.size(), 128u + 60u);
  Bytes start = npy_of(header, 0);
  EXPECT_EQ(start.size(), 128u);
  EXPECT_EQ(Bytes(file.begin(), file.begin() + 128), start);
}

TEST(Npy, other_spellings_of_the_same_header_are_read) {
  const auto decoder = codec::find_picture_format("npy")->make_decoder();
  for (const char* text : {"{'shape':(2,3,3),'fortran_order':False,'descr':'|u1'}",
                           "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 3,), }  \n"}) {
    EXPECT_EQ(decode_whole(*decoder, npy_of(text, 18)).pixels, Pixels(18, 7)) << text;
  }
}

TEST(Npy, anything_else_is_refused) {
  const auto decoder = codec::find_picture_format("npy")->make_decoder();
  for (const char* text :
       {"", "{", "{}", "{'descr': '|u1', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 3), }",
        "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 3), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 4), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 3, 1), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (-2, 3, 3), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (0, 3, 3), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (4294967298, 3, 3), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (65536, 65536, 3), }",
        "{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 3), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 3), } x",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 3), 'x': 1}",
        "{'descr': '|u1' 'fortran_order': False, 'shape': (2, 3, 3)}"}) {
    EXPECT_THROW(decoder->open(npy_of(text, 18), "p"), Error) << text;
  }
  const char* right = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 3), }";
  EXPECT_THROW(decoder->open(npy_of(right, 17), "p"), Error);
  EXPECT_THROW(decoder->open(npy_of(right, 19), "p"), Error);
}

}  // namespace
}  // namespace feedrate::tests
