#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/resource.h>

#include <csignal>

#include "datasets.h"

namespace feedrate::tests {
namespace {

using Failures = DatasetTest;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(Failures, wrong_options_are_usage_errors_before_anything_is_made) {
  const auto expect_usage = [&](auto change) {
    data_gen::GenerateOptions wrong = options();
    change(wrong);
    EXPECT_THROW(generate(wrong), UsageError);
  };
  expect_usage([](auto& o) { o.formats = {"jxl"}; });
  expect_usage([](auto& o) { o.formats.clear(); });
  expect_usage([](auto& o) { o.image_sizes.clear(); });
  expect_usage([](auto& o) { o.image_sizes = {{0, 5}}; });
  expect_usage([](auto& o) { o.image_sizes = {{-5, 5}}; });
  expect_usage([](auto& o) { o.image_sizes = {{70000, 5}}; });
  expect_usage([](auto& o) { o.image_sizes = {{9000, 9000}}; });
  expect_usage([](auto& o) { o.input_sizes = {{0, 0}}; });
  expect_usage([](auto& o) { o.tensor_dtypes.clear(); });
  expect_usage([](auto& o) { o.count = 0; });
  expect_usage([](auto& o) { o.count = -1; });
  expect_usage([](auto& o) { o.classes = 0; });
  expect_usage([](auto& o) { o.encode.jpeg_quality = 0; });
  expect_usage([](auto& o) { o.encode.subsampling = "410"; });
  expect_usage([](auto& o) { o.encode.png_level = 10; });
  EXPECT_FALSE(fs::exists(options().data));
}

TEST_F(Failures, a_place_that_cannot_be_written_is_named) {
  write_text(folder_ / "file", "in the way");
  data_gen::GenerateOptions below_a_file = options();
  below_a_file.data = folder_ / "file" / "data";
  EXPECT_THAT(error_of(below_a_file),
              HasSubstr("file/data: cannot make the folder: Not a directory"));
  if (geteuid() == 0) return;  // to whom no folder is read-only
  fs::create_directory(options().data);
  fs::permissions(options().data, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THAT(error_of(options()), HasSubstr("Permission denied"));
  fs::permissions(options().data, fs::perms::owner_all);
}

TEST_F(Failures, a_disk_without_room_is_noticed_first) {
  data_gen::GenerateOptions huge = options();
  huge.formats = {"tensor"};
  huge.tensor_dtypes = {codec::Dtype::fp32};
  huge.image_sizes = huge.input_sizes = {{8192, 8192}};
  huge.count = 200'000;  // 160 TB
  EXPECT_THAT(error_of(huge), HasSubstr("needs about"));
  EXPECT_TRUE(files_of(huge.data).empty());
}

TEST_F(Failures, a_failed_write_names_path_and_reason_and_leaves_no_half_file) {
  // The limit on the size of a file stands in for a full disk: write() fails in the same place.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 4000;
  data_gen::GenerateOptions raw = options();
  raw.formats = {"raw"};
  raw.image_sizes = {{48, 36}};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = error_of(raw);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_THAT(message, HasSubstr("raw/48x36/class_00"));
  EXPECT_THAT(message, HasSubstr("File too large"));
  for (const auto& [name, text] : files_of(raw.data)) EXPECT_EQ(name, "dataset.json");
  generate(raw);
  expect_verifies(raw.data);
}

// A file that its user may not read stands in for a disk that fails. To root no file is that: it
// becomes another user meanwhile.
class Unreadable : public DatasetTest {
 protected:
  std::string error_without(const fs::path& file, const data_gen::GenerateOptions& options) const {
    const bool is_root = geteuid() == 0;
    fs::permissions(file, fs::perms::none);
    if (is_root) {
      fs::permissions(folder_, fs::perms::all);
      fs::permissions(options.data, fs::perms::all);
      EXPECT_EQ(seteuid(65'534), 0);
    }
    std::string message = error_of(options);
    if (is_root) {
      EXPECT_EQ(seteuid(0), 0);
    }
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    return message;
  }
};

TEST_F(Unreadable, a_manifest_is_not_taken_for_a_missing_one) {
  generate(options());
  const auto before = files_of(options().data);
  EXPECT_THAT(
      error_without(options().data / "jpeg/48x36/files.tsv", options()),
      HasSubstr("jpeg/48x36/files.tsv: cannot read it: Permission denied; make it readable"));
  expect_same(files_of(options().data), before);
}

TEST_F(Unreadable, a_stored_picture_is_not_replaced_by_another) {
  data_gen::GenerateOptions jpeg = options();
  jpeg.formats = {"jpeg"};
  generate(jpeg);
  data_gen::GenerateOptions raw = options();
  raw.formats = {"raw"};
  EXPECT_THAT(error_without(raw.data / "jpeg/48x36/class_000/000000.jpg", raw),
              HasSubstr("jpeg/48x36/class_000/000000.jpg: Permission denied; make it readable"));
  EXPECT_EQ(error_of(raw), "");
}

TEST_F(Unreadable, a_sample_of_an_interrupted_run_is_not_made_anew) {
  generate(options());
  const auto before = files_of(options().data);
  fs::remove(options().data / "png/48x36/files.tsv");
  EXPECT_THAT(error_without(options().data / "png/48x36/class_000/000004.png", options()),
              HasSubstr("png/48x36/class_000/000004.png: Permission denied; make it readable"));
  generate(options());
  expect_same(files_of(options().data), before);
}

TEST_F(Failures, two_writers_do_not_share_a_folder) {
  fs::create_directories(options().data);
  const int held = open(options().data.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(flock(held, LOCK_EX | LOCK_NB), 0);
  EXPECT_THAT(error_of(options()), HasSubstr("another `feedrate gen`"));
  close(held);
  EXPECT_EQ(error_of(options()), "");
}

// A dataset.json beside them would make `run` take the folder for a dataset.
TEST_F(Failures, a_folder_of_own_pictures_is_left_alone) {
  const fs::path mine = options().data;
  write_text(mine / "notes.txt", "of nobody's concern");
  write_text(mine / "a/deep/1.JPG", "a picture");
  const auto before = files_of(mine);
  EXPECT_THROW(generate(options()), UsageError);
  const std::string error = error_of(options());
  EXPECT_THAT(error, testing::StartsWith(mine.string() +
                                         ": holds pictures of your own (a/deep/1.JPG); choose "
                                         "another folder; or read it as it lies: feedrate run "
                                         "--dataset " +
                                         mine.string() + " --data jpeg --image-size mixed"));
  EXPECT_THAT(error, testing::EndsWith("feedrate gen OTHER --from " + mine.string()));
  expect_same(files_of(mine), before);
  fs::rename(mine / "a/deep/1.JPG", mine / "a/deep/1.bmp");
  EXPECT_THAT(error_of(options()), AllOf(HasSubstr("--data bmp"), Not(HasSubstr("--from"))));
  fs::remove_all(mine / "a");
  write_text(mine / "1.png", "a picture in no class folder");
  EXPECT_THAT(error_of(options()), HasSubstr("holds pictures of your own (1.png); choose"));
  fs::remove(mine / "1.png");
  write_text(mine / ".cache/1.png", "nobody reads it");
  EXPECT_EQ(error_of(options()), "") << "other files do no harm";
}

TEST_F(Failures, a_folder_of_own_shards_is_left_alone) {
  const fs::path mine = options().data;
  write_text(mine / "shard-000000.tar", "a shard");
  EXPECT_THAT(error_of(options()),
              AllOf(HasSubstr("holds tar shards of your own (shard-000000.tar)"),
                    HasSubstr("--container webdataset")));
  EXPECT_EQ(files_of(mine).size(), 1U);
}

TEST_F(Failures, a_dataset_below_is_not_taken_for_own_pictures) {
  generate(options("data/inner"));
  EXPECT_EQ(error_of(options()), "");
}

TEST_F(Failures, links_of_a_folder_end) {
  fs::create_directories(options().data / "a");
  fs::create_directory_symlink("..", options().data / "a/loop");
  EXPECT_EQ(error_of(options()), "");
}

// What an interrupted `gen` has made is not the user's.
TEST_F(Failures, samples_without_their_records_are_taken_up) {
  generate(options());
  const auto before = files_of(options().data);
  for (const auto& [name, text] : before)
    if (name.ends_with("files.tsv") || name == "dataset.json") fs::remove(options().data / name);
  generate(options());
  expect_same(files_of(options().data), before);
}

TEST_F(Failures, a_callback_that_throws_ends_the_run) {
  EXPECT_THROW(
      data_gen::generate_dataset(
          options(), [](const data_gen::GenerateProgress&) { throw std::logic_error("x"); }, {}),
      std::logic_error);
  EXPECT_EQ(error_of(options()), "");
}

}  // namespace
}  // namespace feedrate::tests
