#include <gmock/gmock.h>

#include <map>
#include <string>

#include "data_gen/generate_source.h"
#include "datasets.h"
#include "storage/image_folder.h"
#include "tests/temporary_cache.h"

namespace feedrate::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class From : public DatasetTest {
 protected:
  void add_picture(const std::string& name, std::uint64_t seed, const char* format = "jpeg",
                   codec::PixelSize size = {60, 40}) {
    std::vector<std::byte> file;
    codec::find_picture_format(format)->encode(data_gen::synthesise_picture(seed, size).view(), {},
                                               file);
    write_text(pictures() / name, {reinterpret_cast<const char*>(file.data()), file.size()});
  }
  fs::path pictures() const { return folder_ / "pictures"; }
  data_gen::GenerateOptions from_options(const std::string& name = "data") const {
    data_gen::GenerateOptions from = options(name);
    from.from = pictures();
    from.formats = {"jpeg", "png"};
    from.image_sizes = {{32, 24}};
    from.count = 0;
    return from;
  }
  static std::vector<std::string> paths_of(const storage::DatasetVariant& variant) {
    std::vector<std::string> paths;
    for (const auto& sample : variant.samples) {
      paths.push_back(sample.path + " " + std::to_string(sample.label));
    }
    return paths;
  }
};

TEST_F(From, takes_class_folders_in_name_order) {
  add_picture("n02/b.JPEG", 1);
  add_picture("n02/a.png", 2, "png", {33, 71});
  add_picture("n01/deep/er/c.jpg", 3);
  add_picture("n03/d.Jpg", 4, "png");  // a PNG under a JPEG's name
  write_text(pictures() / "n03/notes.txt", "not a picture");
  generate(from_options());
  const storage::DatasetVariant variant = storage::open_dataset(from_options().data, "jpeg/32x24");
  EXPECT_THAT(paths_of(variant), ElementsAre("n01/000000.jpg 0", "n02/000001.jpg 1",
                                             "n02/000002.jpg 1", "n03/000003.jpg 2"));
  EXPECT_EQ(variant.classes, 3);
  expect_verifies(from_options().data);
}

TEST_F(From, webp_is_read_as_run_reads_it) {
  add_picture("n01/a.webp", 1, "webp", {33, 71});
  add_picture("n01/b.jpg", 2, "webp");  // under a JPEG's name
  generate(from_options());
  EXPECT_THAT(paths_of(storage::open_dataset(from_options().data, "jpeg/32x24")),
              ElementsAre("n01/000000.jpg 0", "n01/000001.jpg 0"));
  expect_verifies(from_options().data);
}

TEST_F(From, pictures_without_a_folder_are_one_class) {
  add_picture("b.jpg", 1);
  add_picture("a.jpg", 2);
  generate(from_options());
  EXPECT_THAT(paths_of(storage::open_dataset(from_options().data, "png/32x24")),
              ElementsAre("class_000/000000.png 0", "class_000/000001.png 0"));
}

TEST_F(From, crops_the_middle_and_averages) {
  // Left and right quarters black, the middle white: cut to a square, only white is left.
  data_gen::Picture picture{{80, 40}, std::vector<std::uint8_t>(80 * 40 * 3, 0)};
  for (int y = 0; y < 40; ++y) {
    std::fill_n(&picture.pixels[static_cast<std::size_t>((y * 80 + 20) * 3)], 40 * 3, 255);
  }
  const data_gen::Picture square = data_gen::crop_and_resize(picture.view(), {10, 10});
  EXPECT_EQ(square.pixels, std::vector<std::uint8_t>(300, 255));
  const data_gen::Picture wide = data_gen::crop_and_resize(picture.view(), {4, 2});
  for (int x = 0; x < 4; ++x)
    EXPECT_EQ(wide.pixels[static_cast<std::size_t>(x * 3)], x == 0 || x == 3 ? 0 : 255);
  const data_gen::Picture same = data_gen::crop_and_resize(picture.view(), {80, 40});
  EXPECT_EQ(same.pixels, picture.pixels);
  for (const codec::PixelSize size : {codec::PixelSize{1, 1}, {1, 200}, {200, 1}, {160, 80}}) {
    EXPECT_EQ(data_gen::crop_and_resize(picture.view(), size).size,
              size);  // extreme aspects stay inside
  }
}

TEST_F(From, at_most_count_pictures_are_spread_over_the_classes) {
  for (int i = 0; i < 12; ++i) {
    add_picture("class" + std::to_string(i / 3) + "/" + std::to_string(i) + ".jpg",
                static_cast<std::uint64_t>(i), "jpeg", {16, 16});
  }
  data_gen::GenerateOptions four = from_options();
  four.count = 4;
  generate(four);
  const storage::DatasetVariant variant = storage::open_dataset(four.data, "jpeg/32x24");
  EXPECT_EQ(variant.samples.size(), 4u);
  EXPECT_EQ(variant.classes, 4);
}

TEST_F(From, broken_pictures_are_all_named_before_anything_is_written) {
  for (const char* name : {"n01/a.jpg", "n01/b.jpg", "n02/d.jpg"}) add_picture(name, 1);
  fs::resize_file(pictures() / "n01/b.jpg", 400);
  write_text(pictures() / "n01/c.png", "plain text");
  const std::string error = error_of(from_options());
  EXPECT_THAT(error, HasSubstr("2 of 4 pictures cannot be decoded"));
  EXPECT_THAT(error, HasSubstr("n01/b.jpg: "));
  EXPECT_THAT(error, HasSubstr("n01/c.png: no JPEG, PNG or WebP"));
  EXPECT_THAT(error, HasSubstr("--skip-bad"));
  EXPECT_FALSE(fs::exists(from_options().data));
}

TEST_F(From, broken_pictures_are_left_out_where_that_is_asked_for) {
  for (const char* name : {"n01/a.jpg", "n01/b.jpg", "n02/d.jpg"}) add_picture(name, 1);
  fs::resize_file(pictures() / "n01/b.jpg", 400);
  data_gen::GenerateOptions skipping = from_options();
  std::vector<std::string> skipped;
  skipping.skip_bad = true;
  skipping.on_skipped = [&](const std::string& picture, std::int64_t) {
    skipped.push_back(picture);
  };
  generate(skipping);
  EXPECT_THAT(skipped, ElementsAre(HasSubstr("n01/b.jpg: ")));
  EXPECT_THAT(paths_of(storage::open_dataset(skipping.data, "jpeg/32x24")),
              ElementsAre("n01/000000.jpg 0", "n02/000001.jpg 1"));
  expect_verifies(skipping.data);
  // Once the picture is gone the same dataset is meant, with or without the flag.
  fs::remove(pictures() / "n01/b.jpg");
  generate(from_options());
}

TEST_F(From, what_is_no_picture_that_it_reads_is_counted_and_named) {
  add_picture("n01/a.jpg", 1);
  for (const char* name :
       {"n01/b.gif", "n01/c.GIF", "n01/notes.txt", "n01/d.heic", "n01/e\x1b[2J.tif"})
    write_text(pictures() / name, "x");
  fs::create_symlink("nowhere", pictures() / "n02");
  write_text(pictures() / "n01/.DS_Store", "x");
  write_text(pictures() / "n01/._a.jpg", "x");
  data_gen::GenerateOptions options = from_options();
  std::map<std::string, std::int64_t> left_out;
  options.on_skipped = [&](const std::string& what, std::int64_t pictures) {
    left_out[what.substr(what.find("pictures/"))] = pictures;
  };
  generate(options);
  EXPECT_EQ(paths_of(storage::open_dataset(options.data, "jpeg/32x24")).size(), 1u);
  const std::string read = "; gen reads *.jpg, *.jpeg, *.png, *.webp";
  EXPECT_THAT(left_out, ElementsAre(Pair("pictures/n01/._a.jpg: is hidden", 1),
                                    Pair("pictures/n01/b.gif: a *.gif (and 1 more)" + read, 2),
                                    Pair("pictures/n01/d.heic: a *.heic" + read, 1),
                                    Pair("pictures/n01/e?[2J.tif: a *.tif" + read, 1),
                                    Pair("pictures/n02: a link that leads nowhere", 1)));
}

TEST_F(From, a_link_of_a_pictures_name_that_leads_nowhere_is_a_bad_picture) {
  add_picture("n01/a.jpg", 1);
  fs::create_symlink("nowhere", pictures() / "n01/b.jpg");
  EXPECT_THAT(error_of(from_options()), HasSubstr("n01/b.jpg: is a link that leads nowhere"));
  data_gen::GenerateOptions skipping = from_options();
  skipping.skip_bad = true;
  std::int64_t left_out = 0;
  skipping.on_skipped = [&](const std::string&, std::int64_t pictures) { left_out += pictures; };
  generate(skipping);
  EXPECT_EQ(left_out, 1);
}

TEST_F(From, a_folder_without_pictures_is_an_error) {
  EXPECT_THAT(error_of(from_options()), HasSubstr("pictures: "));
  fs::create_directories(pictures());
  EXPECT_THAT(error_of(from_options()), HasSubstr("holds no *.jpg"));
}

TEST_F(From, a_dataset_inside_its_own_source_is_refused) {
  add_picture("n01/a.jpg", 1);
  data_gen::GenerateOptions inside = from_options();
  inside.data = pictures() / "data";
  EXPECT_THAT(error_of(inside), HasSubstr("lies inside"));
  inside.data = pictures();
  EXPECT_THAT(error_of(inside), HasSubstr("lies inside"));
}

TEST_F(From, resumes_and_notices_a_changed_source) {
  add_picture("n01/a.jpg", 1);
  add_picture("n02/b.jpg", 2);
  generate(from_options());
  const auto before = files_of(from_options().data);
  fs::remove(from_options().data / "png/32x24/n02/000001.png");
  generate(from_options());
  expect_same(files_of(from_options().data), before);
  add_picture("n02/b.jpg", 2, "jpeg", {61, 40});
  EXPECT_THAT(error_of(from_options()), HasSubstr("source_files"));
}

TEST_F(From, takes_what_is_read_from_a_folder_as_it_lies) {
  for (const char* name : {"n01/a.jpg", "n01/.hidden.JPG", ".hidden/b.jpeg"}) add_picture(name, 1);
  add_picture("../elsewhere/c.jpg", 2);
  fs::create_directory_symlink(folder_ / "elsewhere", pictures() / "n02");
  generate(from_options());
  static constexpr std::string_view kEndings[] = {".jpg", ".jpeg"};
  const TemporaryCache cache;
  const auto as_it_lies = storage::list_image_folder(pictures(), kEndings, 1);
  const auto made = storage::open_dataset(from_options().data, "jpeg/32x24");
  EXPECT_EQ(made.classes, as_it_lies.classes);
  EXPECT_EQ(made.classes, 2) << "what is hidden is left out";
  ASSERT_EQ(made.samples.size(), as_it_lies.samples.size());
  for (std::size_t i = 0; i < made.samples.size(); ++i)
    EXPECT_EQ(made.samples[i].label, as_it_lies.samples[i].label) << made.samples[i].path;
  fs::create_symlink("nowhere.jpg", pictures() / "n01/d.jpg");
  EXPECT_THAT(error_of(from_options()), HasSubstr("n01/d.jpg: is a link that leads nowhere"));
}

TEST_F(From, takes_what_is_read_from_a_folder_of_several_kinds) {
  for (const char* name : {"a.jpg", "b.jpg"}) add_picture(name, 1);
  write_text(pictures() / "all.tar", "x");
  generate(from_options());
  EXPECT_THAT(paths_of(storage::open_dataset(from_options().data, "jpeg/32x24")),
              ElementsAre("class_000/000000.jpg 0", "class_000/000001.jpg 0"));
  for (const char* name : {"b.tar", "c.tar"}) write_text(pictures() / name, "x");
  EXPECT_THAT(error_of(from_options("of shards")),
              HasSubstr("pictures: holds tar shards (3); unp"));
  add_picture("n01/c.jpg", 2);
  data_gen::GenerateOptions options = from_options("of classes");
  std::map<std::string, std::int64_t> left_out;
  options.on_skipped = [&](const std::string& what, std::int64_t pictures) {
    left_out[what.substr(what.find("pictures/"))] = pictures;
  };
  generate(options);
  EXPECT_THAT(paths_of(storage::open_dataset(options.data, "jpeg/32x24")),
              ElementsAre("n01/000000.jpg 0"));
  EXPECT_THAT(left_out,
              ElementsAre(Pair("pictures/a.jpg: lies in no class folder (and 1 more)", 2)));
}

TEST_F(From, a_loop_of_links_ends) {
  add_picture("n01/a.jpg", 1);
  fs::create_directory_symlink(pictures(), pictures() / "n01/again");
  EXPECT_THAT(error_of(from_options()),
              HasSubstr("n01/again: is a link to a folder that it lies in"));
}

}  // namespace
}  // namespace feedrate::tests
