#include "codec/tensor.h"

#include <cmath>
#include <limits>

#include "codec/bytes.h"
#include "codec/half.h"
#include "pictures.h"

namespace feedrate::tests {
namespace {

constexpr codec::Dtype kDtypes[] = {codec::Dtype::uint8, codec::Dtype::fp16, codec::Dtype::fp32};

double value_of_half(std::uint16_t half) {
  const int exponent = half >> 10 & 31, mantissa = half & 1023;
  const double magnitude = exponent == 0    ? std::ldexp(mantissa, -24)
                           : exponent == 31 ? (mantissa != 0 ? NAN : INFINITY)
                                            : std::ldexp(1024 + mantissa, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Half, gives_back_every_half) {
  for (int half = 0; half < 65536; ++half) {
    const double value = value_of_half(static_cast<std::uint16_t>(half));
    const std::uint16_t found = codec::half_from(static_cast<float>(value));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(value_of_half(found)));
    } else {
      ASSERT_EQ(found, half);
    }
  }
}

TEST(Half, rounds_to_nearest_and_ties_to_even) {
  for (int half = 0; half < 0x7c00; ++half) {
    const auto low = static_cast<std::uint16_t>(half), high = static_cast<std::uint16_t>(half + 1);
    // The half after the largest would be 65536: what lies halfway to it already becomes infinity.
    const double above = high == 0x7c00 ? 65536.0 : value_of_half(high);
    const auto middle = static_cast<float>((value_of_half(low) + above) / 2);
    const std::uint16_t even = (half & 1) != 0 ? high : low;
    ASSERT_EQ(codec::half_from(middle), even);
    ASSERT_EQ(codec::half_from(-middle), even | 0x8000);
    ASSERT_EQ(codec::half_from(std::nextafter(middle, 0.0f)), low);
    ASSERT_EQ(codec::half_from(std::nextafter(middle, INFINITY)), high);
  }
}

TEST(Half, extremes) {
  EXPECT_EQ(codec::half_from(0.0f), 0);
  EXPECT_EQ(codec::half_from(-0.0f), 0x8000);
  EXPECT_EQ(codec::half_from(INFINITY), 0x7c00);
  EXPECT_EQ(codec::half_from(-INFINITY), 0xfc00);
  EXPECT_EQ(codec::half_from(1e30f), 0x7c00);
  EXPECT_EQ(codec::half_from(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_TRUE(std::isnan(value_of_half(codec::half_from(NAN))));
}

TEST(Dtypes, have_names_and_sizes) {
  for (const codec::Dtype dtype : kDtypes)
    EXPECT_EQ(codec::dtype_from(codec::name_of(dtype)), dtype);
  EXPECT_EQ(codec::size_of(codec::Dtype::uint8), 1u);
  EXPECT_EQ(codec::size_of(codec::Dtype::fp16), 2u);
  EXPECT_EQ(codec::size_of(codec::Dtype::fp32), 4u);
  EXPECT_THROW(codec::dtype_from("int8"), UsageError);
}

TEST(Normalise, is_torchvisions_formula_in_fp32) {
  const TestPicture picture = make_picture(256, 3);
  const std::size_t count = 256 * 3;
  Bytes fp32(count * 12), fp16(count * 6);
  codec::normalise(picture.pixels.data(), count, codec::Dtype::fp32, fp32.data());
  codec::normalise(picture.pixels.data(), count, codec::Dtype::fp16, fp16.data());
  for (std::size_t i = 0; i < count * 3; ++i) {
    const float expected =
        (static_cast<float>(picture.pixels[i]) / 255.0f - codec::kMean[i % 3]) / codec::kStd[i % 3];
    float found;
    std::memcpy(&found, &fp32[i * 4], 4);
    ASSERT_EQ(found, expected);
    ASSERT_EQ(codec::load_le<std::uint16_t>(&fp16[i * 2]), codec::half_from(expected));
  }
}

// A mean of 0 and a deviation of 1: what --augment mask-color asks for.
TEST(Normalise, by_unit_is_a_division_alone) {
  const TestPicture picture = make_picture(256, 3);
  const std::size_t count = 256 * 3;
  Bytes fp32(count * 12), fp16(count * 6);
  const auto by = codec::Normalisation::unit;
  codec::normalise(picture.pixels.data(), count, codec::Dtype::fp32, fp32.data(), by);
  codec::normalise(picture.pixels.data(), count, codec::Dtype::fp16, fp16.data(), by);
  for (std::size_t i = 0; i < count * 3; ++i) {
    const float expected = static_cast<float>(picture.pixels[i]) / 255.0f;
    float found;
    std::memcpy(&found, &fp32[i * 4], 4);
    ASSERT_EQ(found, expected);
    ASSERT_EQ(codec::load_le<std::uint16_t>(&fp16[i * 2]), codec::half_from(expected));
  }
}

TEST(Tensor, round_trip) {
  const TestPicture picture = make_picture(19, 11);
  for (const codec::Dtype dtype : kDtypes) {
    Bytes file;
    codec::encode_tensor(picture.view(), dtype, file);
    ASSERT_EQ(file.size(),
              codec::kTensorHeaderBytes + picture.pixels.size() * codec::size_of(dtype));
    const codec::TensorView view = codec::parse_tensor(file, "t");
    EXPECT_EQ(view.dtype, dtype);
    EXPECT_EQ(view.size, picture.size);
    Bytes expected(picture.pixels.size() * codec::size_of(dtype));
    codec::normalise(picture.pixels.data(), picture.pixels.size() / 3, dtype, expected.data());
    EXPECT_EQ(Bytes(view.payload.begin(), view.payload.end()), expected);
  }
}

TEST(Tensor, every_truncation_and_trailing_byte_is_an_error) {
  const TestPicture picture = make_picture(9, 8);
  for (const codec::Dtype dtype : kDtypes) {
    Bytes file;
    codec::encode_tensor(picture.view(), dtype, file);
    for (std::size_t length = 0; length < file.size(); ++length) {
      const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
      ASSERT_THROW(codec::parse_tensor(cut, "t"), Error) << length;
    }
    file.push_back(std::byte{0});
    EXPECT_THROW(codec::parse_tensor(file, "t"), Error);
  }
}

TEST(Tensor, sizes_that_overflow_are_refused) {
  Bytes file;
  codec::encode_tensor(make_picture(4, 4).view(), codec::Dtype::fp32, file);
  // 2^32 * 3 * 4 bytes and the like wrap to small numbers in 32 or 64 bits.
  for (const std::uint32_t height : {0u, 0x40000000u, 0x55555556u, 0x80000000u, 0xffffffffu}) {
    for (const std::uint32_t width : {0u, 1u, 4u, 0x40000000u, 0x80000000u, 0xffffffffu}) {
      for (const std::uint64_t claimed :
           {std::uint64_t{0}, std::uint64_t{192}, ~std::uint64_t{0}}) {
        Bytes mutant = file;
        codec::store_le(&mutant[12], height);
        codec::store_le(&mutant[16], width);
        codec::store_le(&mutant[24], claimed);
        ASSERT_THROW(codec::parse_tensor(mutant, "t"), Error)
            << height << " " << width << " " << claimed;
      }
    }
  }
}

TEST(Tensor, fuzzed_headers_are_refused_or_mean_what_they_say) {
  Bytes file;
  codec::encode_tensor(make_picture(6, 4).view(), codec::Dtype::fp16, file);
  std::minstd_rand random(5);
  for (int i = 0; i < 10'000; ++i) {
    Bytes mutant = file;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      const std::size_t at = random() % codec::kTensorHeaderBytes;
      mutant[at] = random() % 2 != 0 ? mutant[at] ^ std::byte{1} << (random() % 8)
                                     : static_cast<std::byte>(random());
    }
    try {
      const codec::TensorView view = codec::parse_tensor(mutant, "t");
      const auto pixels = static_cast<std::size_t>(view.size.width) * view.size.height;
      ASSERT_EQ(view.payload.size(), pixels * 3 * codec::size_of(view.dtype));
      ASSERT_EQ(view.payload.data() + view.payload.size(), mutant.data() + mutant.size());
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace feedrate::tests
