#include <gmock/gmock.h>

#include "codec/bytes.h"
#include "npz_files.h"

namespace feedrate::tests {
namespace {

using testing::HasSubstr;

Bytes bytes_of_hex(const std::string& hex) {
  Bytes bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

// numpy 2.4.6: (numpy.arange(18, dtype=numpy.uint8) * 7).reshape(2, 3, 3) by savez,
// savez_compressed, and savez to something that cannot seek.
const TestPicture kPicture{
    {3, 2}, {0, 7, 14, 21, 28, 35, 42, 49, 56, 63, 70, 77, 84, 91, 98, 105, 112, 119}};
const Bytes kSaved = bytes_of_hex(
    "504b03042d000000000000002100540b4447ffffffffffffffff090014006172725f302e6e70790100100092"
    "000000000000009200000000000000934e554d5059010076007b276465736372273a20277c7531272c202766"
    "6f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c20332c2033292c207d20"
    "2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "202020202020202020200a00070e151c232a31383f464d545b62697077504b01022d032d0000000000000021"
    "00540b444792000000920000000900000000000000000000008001000000006172725f302e6e7079504b0506"
    "000000000100010037000000cd0000000000");
const Bytes kCompressed = bytes_of_hex(
    "504b03042d000000080000002100540b4447ffffffffffffffff090014006172725f302e6e70790100100092"
    "000000000000005a000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a05e536aa8aea3a09e"
    "965f54529498179f5f94920a12774bcc294e058a17672416a402f91a463a0ac640a4a9a350ab401ee06260e7"
    "139551d632b4b077f30d894eca2c280700504b01022d032d000000080000002100540b44475a000000920000"
    "000900000000000000000000008001000000006172725f302e6e7079504b0506000000000100010037000000"
    "950000000000");
const Bytes kStreamed = bytes_of_hex(
    "504b03042d00080000000000210000000000ffffffffffffffff090014006172725f302e6e70790100100000"
    "000000000000000000000000000000934e554d5059010076007b276465736372273a20277c7531272c202766"
    "6f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c20332c2033292c207d20"
    "2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "202020202020202020200a00070e151c232a31383f464d545b62697077504b0708540b444792000000000000"
    "009200000000000000504b01022d032d000800000000002100540b4447920000009200000009000000000000"
    "00000000008001000000006172725f302e6e7079504b0506000000000100010037000000e50000000000");
// The first by an earlier zipfile of Python, which writes the sizes twice.
const Bytes kSavedEarlier = bytes_of_hex(
    "504b030414000000000000002100540b44479200000092000000090014006172725f302e6e70790100100092"
    "000000000000009200000000000000934e554d5059010076007b276465736372273a20277c7531272c202766"
    "6f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c20332c2033292c207d20"
    "2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "202020202020202020200a00070e151c232a31383f464d545b62697077504b01021403140000000000000021"
    "00540b444792000000920000000900000000000000000000008001000000006172725f302e6e7079504b0506"
    "000000000100010037000000cd0000000000");

class Npz : public testing::Test {
 protected:
  void refused(const Bytes& file, const std::string& words) {
    EXPECT_THAT(error_of([&] { decode_whole(*decoder_, file); }), HasSubstr(words));
  }
  std::unique_ptr<codec::Decoder> decoder_ = codec::find_picture_format("npz")->make_decoder();
};

TEST_F(Npz, is_written_byte_for_byte_as_numpy_does) { EXPECT_EQ(encode("npz", kPicture), kSaved); }

TEST_F(Npz, is_read_as_numpy_writes_it) {
  for (const Bytes& file : {kSaved, kCompressed, kStreamed, kSavedEarlier}) {
    const TestPicture picture = decode_whole(*decoder_, file);
    EXPECT_EQ(picture.size, kPicture.size);
    EXPECT_EQ(picture.pixels, kPicture.pixels);
  }
}

TEST_F(Npz, gives_every_window_of_what_is_deflated_or_streamed) {
  const TestPicture picture = make_picture(61, 47);
  for (const bool deflated : {false, true}) {
    for (const bool streamed : {false, true}) {
      const Bytes file = write_npz(picture, {.deflated = deflated, .streamed = streamed});
      for (const codec::Rect& window : windows_of(picture.size, 20))
        ASSERT_EQ(decode(*decoder_, file, window), cropped(picture, window)) << deflated;
    }
  }
}

TEST_F(Npz, its_checksum_is_compared) {
  Bytes stored = kSaved, deflated = write_npz(kPicture, {.deflated = true});
  stored[200] ^= std::byte{1};  // a pixel
  refused(stored, "its checksum is wrong");
  const auto checksum = deflated.end() - 22 - 55 + 16;
  *checksum ^= std::byte{1};
  refused(deflated, "its checksum is wrong");
}

TEST_F(Npz, says_what_it_does_not_read) {
  const Bytes array = encode("npy", kPicture);
  refused(array, "not a .npz file, or cut off: no zip directory ends it");
  refused(Bytes(10), "not a .npz file");
  refused(write_npz(Bytes(100), {}), "not a .npy file of version 1.0");
  refused(write_npz(Bytes(100), {.deflated = true}), "not a .npy file of version 1.0");
  refused(write_npz(Bytes(), {}), "not a .npy file of version 1.0");

  const std::size_t end = kSaved.size() - 22, entry = end - 55;
  const auto with = [](std::size_t at, std::uint8_t value) {
    Bytes file = kSaved;
    file[at] = std::byte{value};
    return file;
  };
  refused(with(end + 10, 2), "its zip directory is damaged");
  refused(with(end + 10, 0), "holds no array");
  refused(with(end + 10, 33), "holds 33 arrays, more than 32");
  refused(with(entry + 30, 1), "its zip directory is damaged");
  refused(with(end + 12, 56), "its zip directory is damaged");
  refused(with(end + 16, 0), "its zip directory is damaged");
  refused(with(entry, 0), "its zip directory is damaged");
  refused(with(entry + 8, 1), "is encrypted");
  refused(with(entry + 10, 12), "is compressed by method 12 of zip");
  refused(with(entry + 10, 8), "its array is not where the zip directory says");
  refused(with(entry + 20, 1), "its array is not as long as the zip directory says");
  refused(with(entry + 24, 1), "its array is not as long as the zip directory says");
  refused(with(entry + 28, 200), "its zip directory is damaged");
  refused(with(entry + 42, 1), "its array is not where the zip directory says");
  refused(with(entry + 44, 1), "its zip directory is damaged");
  refused(with(26, 200), "its array is not where the zip directory says");
}

TEST_F(Npz, of_several_arrays_the_picture_is_taken) {
  const Bytes picture = encode("npy", kPicture), other = encode("npy", make_picture(4, 4)),
              mask = flat_array();
  for (const bool deflated : {false, true}) {
    for (const auto& arrays : {std::vector<NpzArray>{{"image.npy", picture}},
                               std::vector<NpzArray>{{"pixels.npy", picture}},
                               std::vector<NpzArray>{{"arr_0.npy", picture}, {"arr_1.npy", other}},
                               std::vector<NpzArray>{{"arr_0.npy", other}, {"image.npy", picture}},
                               std::vector<NpzArray>{{"mask.npy", mask}, {"x.npy", picture}}}) {
      const TestPicture read = decode_whole(*decoder_, write_npz(arrays, {.deflated = deflated}));
      EXPECT_EQ(read.size, kPicture.size) << arrays.front().name;
      EXPECT_EQ(read.pixels, kPicture.pixels) << arrays.front().name;
    }
  }
  const auto several = [](const std::vector<NpzArray>& arrays) { return write_npz(arrays, {}); };
  refused(several({{"a.npy", picture}, {"\x1b[31m.npy", other}}),
          "holds a, ?[31m: none is image or arr_0, and more than one is uint8 of shape (height, "
          "width, 3)");
  refused(several({{"mask.npy", mask}, {"label.npy", mask}}),
          "holds mask, label: none is image or arr_0, and none is uint8 of shape");
  refused(several(std::vector<NpzArray>(10, {"x.npy", mask})), "x, x, x and 2 more: none is");
}

// Whatever is wrong with those beside it, as long as the directory says where they are.
TEST_F(Npz, arrays_that_are_no_pictures_are_passed_over) {
  const auto with_claim = [](const char* shape) {
    Bytes array = encode("npy", make_picture(4, 4));
    auto* const text = reinterpret_cast<char*>(array.data());
    const std::size_t at = std::string(text, 128).find("(4, 4, 3), }");
    if (at != std::string::npos) std::memcpy(text + at, shape, std::strlen(shape));
    return array;
  };
  for (const Bytes& other : {Bytes(), Bytes(9), Bytes(100), flat_array(),
                             with_claim("(65535, 65535, 3), }"), with_claim("(0, 4, 3), }")}) {
    for (const bool deflated : {false, true}) {
      const Bytes file =
          write_npz(std::vector<NpzArray>{{"a.npy", other}, {"b.npy", encode("npy", kPicture)}},
                    {.deflated = deflated});
      EXPECT_EQ(decode_whole(*decoder_, file).pixels, kPicture.pixels) << other.size();
    }
  }
  // The first one's method, in the directory.
  Bytes file = write_npz(
      std::vector<NpzArray>{{"a.npy", flat_array()}, {"b.npy", encode("npy", kPicture)}}, {});
  const std::size_t directory = codec::load_le<std::uint32_t>(&file[file.size() - 6]);
  file[directory + 10] = std::byte{12};
  EXPECT_EQ(decode_whole(*decoder_, file).pixels, kPicture.pixels);
}

TEST_F(Npz, sizes_that_lie_are_refused_before_memory_is_taken) {
  const std::string right = "(4, 4, 3), }          ", huge = "(65535, 65535, 3), }  ";
  for (const bool deflated : {false, true}) {
    Bytes array = encode("npy", make_picture(4, 4));
    auto* const text = reinterpret_cast<char*>(array.data());
    const std::size_t at = std::string(text, 128).find(right);
    ASSERT_NE(at, std::string::npos);
    std::memcpy(text + at, huge.data(), huge.size());
    refused(write_npz(array, {.deflated = deflated}), "more than the limit of");
    std::memcpy(text + at, "(4, 5, 3)", 9);
    std::memset(text + at + 9, ' ', huge.size() - 9);
    std::memcpy(text + at + 9, ", }", 3);
    refused(write_npz(array, {.deflated = deflated}), "it holds 48 bytes of pixels instead of 60");
  }
}

TEST_F(Npz, what_is_deflated_must_be_as_long_as_it_claims) {
  Bytes file = write_npz(make_picture(16, 16), {.deflated = true});
  const std::size_t entry = file.size() - 22 - 55;
  // One row more than there is, in the directory and in the array's own header.
  Bytes longer = encode("npy", make_picture(16, 17));
  longer.resize(longer.size() - 48);
  Bytes lying = write_npz(longer, {.deflated = true});
  const std::size_t lying_entry = lying.size() - 22 - 55;
  const auto claim = static_cast<std::uint32_t>(longer.size() + 48);
  for (std::size_t i = 0; i < 4; ++i)
    lying[lying_entry + 24 + i] = static_cast<std::byte>(claim >> 8 * i);
  refused(lying, "its compressed array is damaged");
  // Deflated bytes that end early.
  file[entry + 20] ^= std::byte{0x08};
  EXPECT_NE(error_of([&] { decode_whole(*decoder_, file); }), "");
}

}  // namespace
}  // namespace feedrate::tests
