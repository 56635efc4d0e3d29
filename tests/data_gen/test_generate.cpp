#include <gmock/gmock.h>

#include <algorithm>
#include <mutex>
#include <opencv2/imgproc.hpp>

#include "data_gen/generate_source.h"
#include "datasets.h"

namespace feedrate::tests {
namespace {

using Generate = DatasetTest;
using testing::ElementsAre;

std::vector<std::uint8_t> tensor_bytes(const fs::path& path, codec::Dtype dtype,
                                       codec::PixelSize size) {
  const auto file = read_bytes(path);
  const codec::TensorView tensor = codec::parse_tensor(file, path.string());
  EXPECT_EQ(tensor.dtype, dtype);
  EXPECT_EQ(tensor.size, size);
  const auto* first = reinterpret_cast<const std::uint8_t*>(tensor.payload.data());
  return {first, first + tensor.payload.size()};
}

TEST_F(Generate, makes_every_variant_with_its_manifest) {
  const auto summaries = generate(options());
  ASSERT_EQ(summaries.size(), variants_of(options()));
  EXPECT_EQ(summaries.front().variant, "jpeg/48x36");
  EXPECT_EQ(summaries.back().variant, "tensor-fp32/16x16");
  for (const data_gen::VariantSummary& summary : summaries) {
    const storage::DatasetVariant variant = storage::open_dataset(options().data, summary.variant);
    EXPECT_EQ(summary.files, 6);
    EXPECT_EQ(variant.samples.size(), 6u);
    EXPECT_EQ(variant.total_bytes, summary.bytes);
    EXPECT_EQ(variant.classes, 4);
    EXPECT_EQ(variant.manifest_xxh3.size(), 16u);
    std::uint64_t bytes = 0, largest = 0;
    for (const storage::SampleFile& sample : variant.samples) {
      EXPECT_EQ(fs::file_size(variant.folder / sample.path), sample.bytes);
      EXPECT_EQ(sample.path.substr(0, 9), "class_00" + std::to_string(sample.label));
      bytes += sample.bytes, largest = std::max(largest, sample.bytes);
    }
    EXPECT_EQ(bytes, variant.total_bytes);
    EXPECT_EQ(largest, variant.largest_bytes);
  }
  EXPECT_TRUE(fs::exists(options().data / "jpeg/48x36/class_001/000005.jpg"));
  EXPECT_TRUE(fs::exists(options().data / "tensor-fp16/16x16/class_003/000003.tensor"));
  expect_verifies(options().data);
}

TEST_F(Generate, holds_the_same_pixels_in_every_format) {
  generate(options());
  const fs::path data = options().data;
  for (const char* size : {"48x36", "32x32"}) {
    const std::string stem = std::string(size) + "/class_002/000002";
    const data_gen::Picture jpeg = picture_of("jpeg", data / "jpeg" / (stem + ".jpg"));
    for (const char* format : {"png", "png0", "bmp", "npy", "npz", "raw"}) {
      const auto extension = std::string(codec::find_picture_format(format)->extension);
      EXPECT_EQ(picture_of(format, data / format / (stem + extension)).pixels, jpeg.pixels)
          << format;
    }
  }
}

TEST_F(Generate, makes_tensors_of_the_equal_size_or_of_the_largest) {
  generate(options());
  const fs::path data = options().data;
  const std::string sample = "class_002/000002";
  const data_gen::Picture same = picture_of("jpeg", data / "jpeg/32x32" / (sample + ".jpg"));
  EXPECT_EQ(tensor_bytes(data / "tensor-uint8/32x32" / (sample + ".tensor"), codec::Dtype::uint8,
                         {32, 32}),
            same.pixels);
  // 48x36 to a square: the middle 36 columns.
  data_gen::Picture largest = picture_of("jpeg", data / "jpeg/48x36" / (sample + ".jpg"));
  const cv::Mat all(36, 48, CV_8UC3, largest.pixels.data());
  cv::Mat small;
  cv::resize(all(cv::Rect(6, 0, 36, 36)), small, {16, 16}, 0, 0, cv::INTER_AREA);
  const std::vector<std::uint8_t> expected(small.data, small.data + 16 * 16 * 3);
  EXPECT_EQ(tensor_bytes(data / "tensor-uint8/16x16" / (sample + ".tensor"), codec::Dtype::uint8,
                         {16, 16}),
            expected);
  std::vector<std::byte> normalised(expected.size() * 4);
  codec::normalise(expected.data(), expected.size() / 3, codec::Dtype::fp32, normalised.data());
  const auto fp32 =
      tensor_bytes(data / "tensor-fp32/16x16" / (sample + ".tensor"), codec::Dtype::fp32, {16, 16});
  ASSERT_EQ(fp32.size(), normalised.size());
  EXPECT_EQ(std::memcmp(fp32.data(), normalised.data(), fp32.size()), 0);
}

TEST_F(Generate, native_tensors_have_every_image_size) {
  data_gen::GenerateOptions native = options();
  native.formats = {"tensor"};
  native.input_sizes.clear();
  native.tensor_dtypes = {codec::Dtype::uint8};
  generate(native);
  EXPECT_THAT(storage::dataset_variants(native.data),
              ElementsAre("tensor-uint8/32x32", "tensor-uint8/48x36"));
}

TEST_F(Generate, gives_the_same_bytes_from_any_number_of_threads) {
  data_gen::GenerateOptions one = options("one"), three = options("three");
  one.threads = 1;
  three.threads = 3;
  generate(one);
  generate(three);
  expect_same(files_of(one.data), files_of(three.data));
}

TEST_F(Generate, depends_on_the_seed) {
  data_gen::GenerateOptions other = options("other");
  other.seed = 8;
  generate(options());
  generate(other);
  const std::string sample = "jpeg/48x36/class_000/000000.jpg";
  EXPECT_NE(read_text(options().data / sample), read_text(other.data / sample));
  EXPECT_NE(read_text(options().data / sample),
            read_text(options().data / "jpeg/48x36/class_001/000001.jpg"));
}

TEST_F(Generate, reports_progress_to_the_end) {
  data_gen::GenerateProgress last;
  std::int64_t calls = 0;
  data_gen::generate_dataset(options(),
                             [&](const data_gen::GenerateProgress& progress) {
                               EXPECT_EQ(progress.samples_done, last.samples_done + 1);
                               EXPECT_GE(progress.bytes_written, last.bytes_written);
                               last = progress;
                               ++calls;
                             },
                             {});
  EXPECT_EQ(calls, 12);
  EXPECT_EQ(last.samples, 12);
  EXPECT_EQ(last.samples_done, 12);
  std::int64_t bytes = 0;
  for (const auto& summary : generate(options())) bytes += static_cast<std::int64_t>(summary.bytes);
  EXPECT_EQ(last.bytes_written, bytes);
}

// Whoever watches it names what hangs by that.
TEST_F(Generate, tells_each_file_that_it_waits_for) {
  data_gen::GenerateOptions watched = options();
  watched.containers = {"files", "tar"};
  std::vector<std::string> told, synced;
  std::mutex mutex;
  watched.news.waits_for = [&](const std::string& path) {
    const std::scoped_lock lock(mutex);
    told.push_back(path);
  };
  watched.news.syncs = [&](const std::string& folder) { synced.push_back(folder); };
  generate(watched);
  EXPECT_THAT(told, testing::Contains(watched.data.string()));
  for (const char* sample : {"jpeg/48x36/class_001/000001.jpg", "raw/32x32/class_002/000002.raw",
                             "tensor-fp16/16x16/class_003/000003.tensor"})
    EXPECT_THAT(told, testing::Contains((watched.data / sample).string()));
  EXPECT_EQ(synced.front(), watched.data.string());
  EXPECT_THAT(synced, testing::Contains((watched.data / "jpeg.tar/48x36").string()));
}

TEST_F(Generate, never_makes_more_classes_than_pictures) {
  data_gen::GenerateOptions few = options();
  few.classes = 100;
  few.count = 3;
  generate(few);
  EXPECT_EQ(storage::open_dataset(few.data, "jpeg/48x36").classes, 3);
  EXPECT_FALSE(fs::exists(few.data / "jpeg/48x36/class_003"));
}

TEST(SyntheticSource, class_folders_sort_like_their_labels) {
  const auto source = data_gen::make_synthetic_source(0, 5000, 1001);
  EXPECT_EQ(source->classes(), 1001);
  EXPECT_EQ(source->class_folder(0), "class_0000");
  for (std::int32_t label = 1; label < 1001; ++label) {
    EXPECT_LT(source->class_folder(label - 1), source->class_folder(label));
  }
  EXPECT_EQ(data_gen::make_synthetic_source(0, 5000, 1000)->class_folder(999), "class_999");
}

}  // namespace
}  // namespace feedrate::tests
