#include <algorithm>
#include <cmath>

#include "data_gen/imagenet_like.h"
#include "datasets.h"

namespace feedrate::tests {
namespace {

class ImageNetLike : public DatasetTest {
 protected:
  data_gen::GenerateOptions like_imagenet(std::int64_t count) const {
    data_gen::GenerateOptions asked = options();
    asked.like_imagenet = true;
    asked.image_sizes = {data_gen::kMixedSize};
    asked.formats = {"jpeg"};
    asked.count = count;
    return asked;
  }
};

// The figures and their sources stand in imagenet_like.cpp.
TEST_F(ImageNetLike, SizesShapesAndQualitiesAreDistributedAsImageNets) {
  constexpr int kDraws = 100'000;
  data_gen::Random random(1);
  double pixels = 0, at500 = 0, small = 0, large = 0, portrait = 0, square = 0, q96 = 0, full = 0;
  double low_quality = 0, four_to_three = 0;
  for (int i = 0; i < kDraws; ++i) {
    const data_gen::StoredLike stored = data_gen::draw_like_imagenet(random);
    const auto [width, height] = stored.size;
    const int longer = std::max(width, height), shorter = std::min(width, height);
    pixels += static_cast<double>(width) * height;
    at500 += longer == 500, small += longer < 500, large += longer > 1000;
    portrait += height > width, square += height == width;
    q96 += stored.jpeg_quality == 96, low_quality += stored.jpeg_quality <= 80;
    full += stored.subsampling == "444";
    four_to_three += std::abs(longer / static_cast<double>(shorter) - 4.0 / 3) < 0.037;
  }
  const auto percent = [&](double n) { return 100 * n / kDraws; };
  EXPECT_NEAR(pixels / kDraws, 201'700, 10'000);
  EXPECT_NEAR(percent(at500), 70.3, 1);
  EXPECT_NEAR(percent(small), 17.1, 1);
  EXPECT_NEAR(percent(large), 1.6, 0.5);
  EXPECT_NEAR(percent(portrait), 25.6, 2);
  EXPECT_NEAR(percent(square), 4.0, 1);
  EXPECT_NEAR(percent(four_to_three), 42.1, 3);
  EXPECT_NEAR(percent(q96), 67.1, 1);
  EXPECT_NEAR(percent(low_quality), 14.1, 2);
  EXPECT_NEAR(percent(full), 76.1, 3);
}

// The mean of 12,000 is 114,650 bytes; the spread of so few as here is wide.
TEST_F(ImageNetLike, FilesHaveImageNetsBytes) {
  const auto made = generate(like_imagenet(120));
  ASSERT_EQ(made.front().variant, "jpeg/mixed");
  EXPECT_NEAR(static_cast<double>(made.front().bytes) / 120, 114'660, 0.2 * 114'660);
  expect_verifies(folder_ / "data");
}

TEST_F(ImageNetLike, EachPictureHasOneSizeInAllFormats) {
  data_gen::GenerateOptions asked = like_imagenet(5);
  asked.formats = {"jpeg", "png", "tensor"};
  generate(asked);
  const auto jpegs = storage::open_dataset(asked.data, "jpeg/mixed");
  const auto pngs = storage::open_dataset(asked.data, "png/mixed");
  EXPECT_EQ(storage::open_dataset(asked.data, "tensor-uint8/32x32").samples.size(), 5u);
  for (std::size_t i = 0; i < jpegs.samples.size(); ++i) {
    EXPECT_TRUE(picture_of("jpeg", jpegs.folder / jpegs.samples[i].path).pixels ==
                picture_of("png", pngs.folder / pngs.samples[i].path).pixels);
  }
}

TEST_F(ImageNetLike, GoesOnWhereItWasInterrupted) {
  data_gen::GenerateOptions asked = like_imagenet(4);
  int polled = 0;
  EXPECT_THROW(data_gen::generate_dataset(asked, {}, [&] { return ++polled > 2; }), Error);
  generate(asked);
  const auto whole = files_of(asked.data);
  data_gen::GenerateOptions again = asked;
  again.data = folder_ / "again";
  generate(again);
  expect_same(files_of(again.data), whole);
}

TEST_F(ImageNetLike, AnotherKindOfDatasetIsNotMixedIn) {
  generate(like_imagenet(2));
  data_gen::GenerateOptions other = like_imagenet(2);
  other.like_imagenet = false;
  other.image_sizes = {{32, 32}};
  EXPECT_NE(error_of(other).find("generated like imagenet, not generated"), std::string::npos)
      << error_of(other);
}

TEST_F(ImageNetLike, MixedSizesAndDetailAreRefusedWhereTheyMeanNothing) {
  data_gen::GenerateOptions mixed = options();
  mixed.image_sizes = {data_gen::kMixedSize};
  EXPECT_NE(error_of(mixed).find("--like imagenet"), std::string::npos);
  data_gen::GenerateOptions both = like_imagenet(2);
  both.bytes_per_sample = 1000;
  EXPECT_NE(error_of(both).find("leave one out"), std::string::npos);
  data_gen::GenerateOptions detail = options();
  detail.details = {"medium", "huge"};
  EXPECT_NE(error_of(detail).find("lowest, low, medium, high"), std::string::npos);
}

TEST_F(ImageNetLike, MoreDetailMakesLargerFiles) {
  data_gen::GenerateOptions asked = options();
  asked.formats = {"jpeg", "png"};
  asked.image_sizes = {{160, 120}};
  asked.details.assign(storage::kDetails.begin(), storage::kDetails.end());
  const auto made = generate(asked);
  ASSERT_EQ(made.size(), 10u);
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (i % 5 == 0) continue;
    EXPECT_GT(made[i].bytes, made[i - 1].bytes) << made[i].variant;
  }
  EXPECT_EQ(made[3].variant, "jpeg/160x120-high");
  EXPECT_EQ(storage::open_dataset(asked.data, "png/160x120-lowest").samples.size(), 6u);
}

TEST_F(ImageNetLike, JpegsHaveTheBytesThatWereAskedFor) {
  data_gen::GenerateOptions asked = options();
  asked.formats = {"jpeg"};
  asked.image_sizes = {{160, 120}};
  asked.count = 40;
  asked.bytes_per_sample = 9000;
  const auto made = generate(asked);
  EXPECT_NEAR(static_cast<double>(made.front().bytes) / 40, 9000, 0.02 * 9000);
  asked.data = folder_ / "beyond";
  asked.bytes_per_sample = 900'000;
  EXPECT_NE(error_of(asked).find("cannot be a JPEG of 900000 bytes"), std::string::npos)
      << error_of(asked);
}

}  // namespace
}  // namespace feedrate::tests
