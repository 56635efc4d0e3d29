// `--augment mask-color` of whole samples: from files and from memory, in both orders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "pipeline/caches.h"
#include "pipeline/loader.h"
#include "pipeline/mask_colour.h"
#include "pipeline/sample_source.h"
#include "tests/support.h"

namespace feedrate::tests {
namespace {

using pipeline::MaskColour;

// Sides that divide by nothing: windows end within a JPEG's block, rows within a word.
constexpr codec::PixelSize kOdd{97, 75}, kCrop{70, 41};
constexpr std::int64_t kMaskedSamples = 8;
const std::vector<std::string> kFormats = {"jpeg", "png", "png0", "bmp",
                                           "webp", "npy", "npz",  "raw"};

class MaskedSamples : public testing::Test {
 protected:
  MaskedSamples() { make_dataset(folder_.path(), kFormats, kOdd, kMaskedSamples); }

  pipeline::SampleRecipe recipe(const std::string& data, MaskColour order,
                                codec::PixelSize crop = kCrop) {
    dataset_ = storage::open_dataset(folder_.path(), data + "/97x75");
    pipeline::SampleRecipe made{.dataset = &dataset_,
                                .format = codec::find_picture_format(data),
                                .spec = {1, crop, codec::Dtype::uint8}};
    made.spec.normalisation = codec::Normalisation::unit;
    made.augment.mask_colour = order, made.augment.crop = crop;
    return made;
  }

  static std::vector<std::uint8_t> sample(const pipeline::SampleRecipe& recipe,
                                          const pipeline::Draw& draw) {
    measure::StageCounters counters;
    std::vector<std::uint8_t> out(recipe.spec.sample_bytes());
    pipeline::SampleSource(recipe, counters).make(draw, reinterpret_cast<std::byte*>(out.data()));
    return out;
  }

  static pipeline::Draw draw(std::int64_t index) {
    return pipeline::Sampler(kMaskedSamples, 3, 0, 1).at(index);
  }

  TemporaryFolder folder_;
  storage::DatasetVariant dataset_;
};

std::vector<std::uint8_t> cut(const std::vector<std::uint8_t>& picture, int width,
                              const codec::Rect& window) {
  std::vector<std::uint8_t> out;
  for (int y = window.y; y < window.y + window.height; ++y) {
    const auto* first = picture.data() + 3 * (y * width + window.x);
    out.insert(out.end(), first, first + 3 * window.width);
  }
  return out;
}

std::vector<std::uint8_t> masked(const std::vector<std::uint8_t>& picture, codec::PixelSize size,
                                 std::uint64_t seed) {
  std::vector<std::uint8_t> out(picture.size());
  pipeline::MaskColourer().apply({picture.data(), 3 * size.width, size.width, size.height}, seed,
                                 out.data());
  return out;
}

// What is expected of one whose whole picture is that.
std::vector<std::uint8_t> expected_of(const std::vector<std::uint8_t>& picture,
                                      const pipeline::Augmentation& by) {
  const codec::PixelSize crop{by.window.width, by.window.height};
  return by.mask_colour == MaskColour::cropped
             ? masked(cut(picture, kOdd.width, by.window), crop, by.mask_seed)
             : cut(masked(picture, kOdd, by.mask_seed), kOdd.width, by.window);
}

// A crop of less than half the picture could be decoded at half its size, and must not be.
TEST_F(MaskedSamples, ArePixelsOfTheWindowThatWasDrawn) {
  for (const MaskColour order : {MaskColour::cropped, MaskColour::whole}) {
    for (const codec::PixelSize crop : {kCrop, codec::PixelSize{40, 31}}) {
      pipeline::SampleRecipe made = recipe("jpeg", order, crop);
      pipeline::SampleRecipe plain = made;
      plain.augment = {.crop_and_flip = false}, plain.spec.size = kOdd;
      for (std::int64_t i = 0; i < 2 * kMaskedSamples; ++i) {
        const pipeline::Augmentation drawn =
            pipeline::draw_augmentation(made.augment, kOdd, draw(i).augment_seed);
        made.decode_scale = i % 2 != 0;
        EXPECT_EQ(sample(made, draw(i)), expected_of(sample(plain, draw(i)), drawn)) << i;
      }
    }
  }
}

TEST_F(MaskedSamples, AreTheSameFromFilesAndFromMemory) {
  for (const std::string& data : kFormats) {
    for (const MaskColour order : {MaskColour::cropped, MaskColour::whole}) {
      pipeline::SampleRecipe from_files = recipe(data, order);
      pipeline::SampleRecipe from_memory = from_files;
      from_memory.decoded_cache = pipeline::fill_decoded_cache(from_files, 2);
      for (const codec::Dtype dtype : {codec::Dtype::uint8, codec::Dtype::fp16}) {
        from_files.spec.dtype = from_memory.spec.dtype = dtype;
        for (std::int64_t i = 0; i < 2 * kMaskedSamples; ++i)
          ASSERT_EQ(sample(from_files, draw(i)), sample(from_memory, draw(i))) << data << i;
      }
    }
  }
}

// Without a mean, and with a deviation of 1.
TEST_F(MaskedSamples, AreDividedBy255Alone) {
  pipeline::SampleRecipe made = recipe("png", MaskColour::cropped);
  const auto bytes = sample(made, draw(0));
  made.spec.dtype = codec::Dtype::fp32;
  const auto normalised = sample(made, draw(0));
  std::vector<float> values(bytes.size());
  std::memcpy(values.data(), normalised.data(), normalised.size());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    ASSERT_EQ(values[i], static_cast<float>(bytes[i]) / 255.0f) << i;
}

TEST_F(MaskedSamples, AreMaskedAnewEachEpoch) {
  const pipeline::SampleRecipe made = recipe("png", MaskColour::whole);
  EXPECT_NE(sample(made, {0, 0, 11, 0}), sample(made, {0, 1, 12, 8}));
}

TEST_F(MaskedSamples, OfAPictureThatIsTooSmallAreRefusedByName) {
  for (const MaskColour order : {MaskColour::cropped, MaskColour::whole}) {
    for (const codec::PixelSize crop : {codec::PixelSize{98, 20}, codec::PixelSize{20, 76}}) {
      pipeline::SampleRecipe made = recipe("png", order);
      made.spec.size = made.augment.crop = crop;
      const auto refusal = testing::ThrowsMessage<Error>(
          testing::AllOf(testing::HasSubstr(".png: has 97x75 pixels, too few for a crop of " +
                                            codec::to_string(crop)),
                         testing::HasSubstr("--input-size")));
      EXPECT_THAT([&] { sample(made, draw(0)); }, refusal);
      made.decoded_cache = pipeline::fill_decoded_cache(made, 1);
      EXPECT_THAT([&] { sample(made, draw(0)); }, refusal);
      made.augment_on_device = true, made.spec.size = kOdd;
      EXPECT_THAT([&] { sample(made, draw(0)); }, refusal);
    }
  }
}

TEST_F(MaskedSamples, ForTheDeviceComeAsTheyAreWithWhatWasDrawn) {
  pipeline::SampleRecipe made = recipe("png", MaskColour::whole);
  made.augment_on_device = true;
  made.spec.size = kOdd;
  pipeline::SampleRecipe plain = made;
  plain.augment = {.crop_and_flip = false}, plain.augment_on_device = false;
  const pipeline::LoaderOptions options{made, pipeline::Sampler(kMaskedSamples, 3, 0, 1), 1, 2,
                                        pipeline::host_slabs()};
  const auto loader = pipeline::make_loader("batch", options);
  for (std::int64_t i = 0; i < kMaskedSamples; ++i) {
    const pipeline::BatchLease batch = loader->next();
    const pipeline::Augmentation expected =
        pipeline::draw_augmentation(made.augment, kOdd, draw(i).augment_seed);
    EXPECT_EQ(batch->augmentations[0].window, expected.window);
    EXPECT_EQ(batch->augmentations[0].mask_seed, expected.mask_seed);
    EXPECT_EQ(batch->augmentations[0].mask_colour, MaskColour::whole);
    EXPECT_EQ(std::memcmp(batch->pixels, sample(plain, draw(i)).data(), made.spec.bytes()), 0);
  }
}

}  // namespace
}  // namespace feedrate::tests
