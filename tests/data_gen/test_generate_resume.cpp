#include <gmock/gmock.h>

#include <atomic>

#include "datasets.h"

namespace feedrate::tests {
namespace {

using Resume = DatasetTest;
using testing::HasSubstr;

TEST_F(Resume, makes_removed_files_again_byte_for_byte) {
  generate(options());
  const auto before = files_of(options().data);
  for (const char* path : {"jpeg/48x36/class_000/000000.jpg", "png/32x32/class_001/000005.png",
                           "tensor-fp16/16x16/class_002/000002.tensor", "bmp/48x36/files.tsv"}) {
    ASSERT_TRUE(fs::remove(options().data / path)) << path;
  }
  generate(options());
  expect_same(files_of(options().data), before);
}

TEST_F(Resume, makes_shortened_files_again) {
  generate(options());
  const auto before = files_of(options().data);
  fs::resize_file(options().data / "png/48x36/class_000/000004.png", 10);
  fs::resize_file(options().data / "jpeg/48x36/class_000/000004.jpg", 0);
  generate(options());
  expect_same(files_of(options().data), before);
}

TEST_F(Resume, goes_on_after_a_stop_at_any_sample) {
  generate(options("whole"));
  const auto expected = files_of(options("whole").data);
  for (const int limit : {0, 1, 3, 7, 11}) {
    const data_gen::GenerateOptions stopped = options("stopped" + std::to_string(limit));
    std::atomic<int> done = 0;
    std::string message;
    try {
      data_gen::generate_dataset(
          stopped, [&](const data_gen::GenerateProgress&) { ++done; },
          [&] { return done >= limit; });
    } catch (const Error& error) {
      message = error.what();
    }
    EXPECT_THAT(message, testing::StartsWith("interrupted: "));
    EXPECT_TRUE(storage::dataset_variants(stopped.data).empty());
    EXPECT_THROW(storage::open_dataset(stopped.data, "jpeg/48x36"), Error);
    EXPECT_FALSE(storage::verify_dataset(stopped.data, 1, {}).damaged.empty());
    generate(stopped);
    expect_same(files_of(stopped.data), expected);
  }
}

TEST_F(Resume, does_not_trust_torn_files_of_an_interrupted_run) {
  generate(options("whole"));
  const data_gen::GenerateOptions stopped = options("stopped");
  int done = 0;
  EXPECT_THROW(
      data_gen::generate_dataset(
          stopped, [&](const data_gen::GenerateProgress&) { ++done; }, [&] { return done >= 9; }),
      Error);
  fs::resize_file(stopped.data / "jpeg/48x36/class_000/000000.jpg",
                  500);  // as a power cut leaves it
  fs::resize_file(stopped.data / "raw/48x36/class_001/000001.raw", 0);
  fs::resize_file(stopped.data / "tensor-fp32/16x16/class_002/000002.tensor", 50);
  write_text(stopped.data / "png/32x32/class_001/000005.png.partial", "half");
  generate(stopped);
  expect_same(files_of(stopped.data), files_of(options("whole").data));
}

TEST_F(Resume, does_nothing_when_all_is_there) {
  generate(options());
  const fs::path file = options().data / "jpeg/48x36/class_000/000000.jpg";
  const auto time = fs::last_write_time(file);
  const auto json_time = fs::last_write_time(options().data / "dataset.json");
  int calls = 0;
  const auto summaries = data_gen::generate_dataset(
      options(), [&](const data_gen::GenerateProgress&) { ++calls; }, {});
  EXPECT_EQ(summaries.size(), variants_of(options()));
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(fs::last_write_time(file), time);
  EXPECT_EQ(fs::last_write_time(options().data / "dataset.json"), json_time);
}

TEST_F(Resume, adds_formats_and_sizes_as_if_made_at_once) {
  data_gen::GenerateOptions first = options();
  first.formats = {"jpeg"};
  first.image_sizes = {{48, 36}};
  generate(first);
  data_gen::GenerateOptions second = options();
  second.formats = {"raw", "tensor"};
  generate(second);
  generate(options());
  generate(options("at_once"));
  expect_same(files_of(options().data), files_of(options("at_once").data));
  expect_verifies(options().data);
}

TEST_F(Resume, keeps_where_a_tensor_was_made_from) {
  data_gen::GenerateOptions small = options();
  small.formats = {"tensor"};
  small.image_sizes = {{32, 32}};
  small.input_sizes = {{16, 16}};
  small.tensor_dtypes = {codec::Dtype::uint8};
  generate(small);
  const auto before = files_of(small.data / "tensor-uint8");
  fs::remove(small.data / "tensor-uint8/16x16/class_000/000000.tensor");
  data_gen::GenerateOptions larger = small;
  larger.image_sizes = {{32, 32}, {48, 36}};
  generate(larger);
  expect_same(files_of(small.data / "tensor-uint8"), before);
}

TEST_F(Resume, new_formats_hold_the_stored_jpegs_pixels_unless_damaged) {
  data_gen::GenerateOptions jpeg = options();
  jpeg.formats = {"jpeg"};
  generate(jpeg);
  const fs::path path = jpeg.data / "jpeg/48x36/class_000/000000.jpg";
  const data_gen::Picture intact = picture_of("jpeg", path);
  std::string file = read_text(path);
  file[file.size() / 2] = static_cast<char>(file[file.size() / 2] ^ 0x10);
  write_text(path, file);
  data_gen::GenerateOptions raw = options();
  raw.formats = {"raw"};
  generate(raw);
  EXPECT_EQ(picture_of("raw", raw.data / "raw/48x36/class_000/000000.raw").pixels, intact.pixels);
}

TEST_F(Resume, refuses_other_options_by_name) {
  generate(options());
  const auto before = files_of(options().data);
  const auto expect_refused = [&](auto change, const char* what) {
    data_gen::GenerateOptions other = options();
    change(other);
    const std::string message = error_of(other);
    EXPECT_THAT(message, HasSubstr(what));
    EXPECT_THAT(message, HasSubstr("choose another folder, or the same options"));
  };
  expect_refused([](auto& o) { o.seed = 8; }, "seed 7, not 8");
  expect_refused([](auto& o) { o.count = 7; }, "count 6, not 7");
  expect_refused([](auto& o) { o.classes = 3; }, "classes 4, not 3");
  expect_refused([](auto& o) { o.encode.jpeg_quality = 80; }, "jpeg_quality 90, not 80");
  expect_refused([](auto& o) { o.encode.subsampling = "444"; }, "subsampling 420, not 444");
  expect_refused([](auto& o) { o.encode.png_level = 9; }, "png_level 1, not 9");
  std::vector<std::byte> file;
  codec::find_picture_format("jpeg")->encode(data_gen::synthesise_picture(1, {16, 12}).view(), {},
                                             file);
  write_text(folder_ / "pictures/a.jpg", {reinterpret_cast<const char*>(file.data()), file.size()});
  expect_refused([&](auto& o) { o.from = folder_ / "pictures"; }, "source generated, not /");
  expect_same(files_of(options().data), before);
}

}  // namespace
}  // namespace feedrate::tests
