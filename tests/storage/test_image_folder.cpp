#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "measure/clock.h"
#include "storage/container.h"
#include "storage/image_folder.h"
#include "storage/listing.h"
#include "storage/verify.h"
#include "tests/temporary_cache.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class ImageFolder : public testing::Test {
 protected:
  void put(const std::string& path, const std::string& text = "x") const {
    fs::create_directories((root() / path).parent_path());
    std::ofstream(root() / path, std::ios::binary) << text;
  }
  fs::path root() const { return folder_.path() / "mine"; }
  storage::DatasetVariant list(int threads = 2) const {
    static constexpr std::string_view kJpeg[] = {".jpg", ".jpeg"};
    return storage::list_image_folder(root(), kJpeg, threads, {}, {}, {.relist = true});
  }
  static std::vector<std::string> paths(const storage::DatasetVariant& variant) {
    std::vector<std::string> all;
    for (const storage::SampleFile& sample : variant.samples)
      all.push_back(sample.path + " " + std::to_string(sample.label) + " " +
                    std::to_string(sample.bytes));
    return all;
  }
  void refused(const std::string& words) const {
    EXPECT_THAT([&] { list(); }, ThrowsMessage<Error>(HasSubstr(words)));
  }

  TemporaryCache cache_;
  TemporaryFolder folder_;
};

TEST_F(ImageFolder, IsReadAsTorchvisionReadsIt) {
  put("dog/b.JPG", "12");
  put("dog/a.jpeg", "1");
  put("dog/puppy/c.jpg", "123");
  put("dog/notes.txt");
  put("dog/picture.png");
  put("cat/z.jpg");
  put("empty/nothing.txt");
  put("not_in_a_class.jpg");
  const storage::DatasetVariant variant = list();
  EXPECT_THAT(paths(variant), ElementsAre("cat/z.jpg 0 1", "dog/a.jpeg 1 1", "dog/b.JPG 1 2",
                                          "dog/puppy/c.jpg 1 3"));
  EXPECT_EQ(variant.classes, 2) << "torchvision refuses a class without pictures";
  EXPECT_EQ(variant.total_bytes, 7u);
  EXPECT_EQ(variant.largest_bytes, 3u);
  const auto storage = storage::make_storage(variant);
  EXPECT_EQ(storage->read(variant.samples[3]).bytes.size(), 3u);
}

TEST_F(ImageFolder, FollowsLinks) {
  put("real/a.jpg");
  fs::create_directories(folder_.path() / "elsewhere");
  std::ofstream(folder_.path() / "elsewhere/b.jpg") << "bb";
  fs::create_directory_symlink(folder_.path() / "elsewhere", root() / "linked");
  fs::create_symlink(root() / "real/a.jpg", root() / "real/also_a.jpg");
  EXPECT_THAT(paths(list()),
              ElementsAre("linked/b.jpg 0 2", "real/a.jpg 1 1", "real/also_a.jpg 1 1"));
}

// Who reads it, and when, changes nothing; what is in it does.
TEST_F(ImageFolder, ItsManifestIsOfNamesSizesAndTimes) {
  for (int i = 0; i < 40; ++i) put("class/" + std::to_string(i) + ".jpg");
  const std::string before = list(1).manifest_xxh3;
  EXPECT_EQ(list(4).manifest_xxh3, before);
  put("class/7.jpg", "more");
  const std::string larger = list().manifest_xxh3;
  EXPECT_NE(larger, before);
  fs::last_write_time(root() / "class/9.jpg",
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  const std::string older = list().manifest_xxh3;
  EXPECT_NE(older, larger);
  fs::rename(root() / "class/3.jpg", root() / "class/three.jpg");
  EXPECT_NE(list().manifest_xxh3, older);
}

// Nobody made it by `gen`, so nobody can make it again by that.
TEST_F(ImageFolder, APictureThatChangedIsListedAnewAndNotMadeAgain) {
  put("class/a.jpg", "12");
  const storage::DatasetVariant variant = list();
  const auto storage = storage::make_storage(variant);
  put("class/a.jpg", "1");
  const auto read = [&] { storage->read(variant.samples[0]); };
  EXPECT_THAT(read, ThrowsMessage<Error>(HasSubstr("class/a.jpg: has 1 bytes, ")));
  EXPECT_THAT(read, ThrowsMessage<Error>(HasSubstr("has changed since it was listed: ")));
  EXPECT_THAT(read, ThrowsMessage<Error>(HasSubstr("--relist")));
  EXPECT_THAT(read, ThrowsMessage<Error>(testing::Not(HasSubstr("feedrate gen"))));
}

TEST_F(ImageFolder, SaysWhatCannotBeRead) {
  refused("mine: No such file or directory");
  fs::create_directories(root() / "class");
  refused(
      "mine: holds no files; give the folder of the pictures, or make a dataset: feedrate gen ");
  put("class/.a.jpg");
  refused("mine: holds no .jpg or .jpeg; else it holds 1 (1 hidden); give the folder");
  put("class/a.jpg");
  EXPECT_EQ(list().samples.size(), 1u);
  fs::create_symlink("nowhere.jpg", root() / "class/b.jpg");
  refused("class/b.jpg: is a link that leads nowhere; mend such links, or take them out: `find ");
  fs::create_symlink("nowhere.jpg", root() / "class/c.jpg");
  fs::create_directories(root() / "zebra");
  fs::create_symlink("d.jpg", root() / "zebra/d.jpg");  // to itself
  refused("class/b.jpg: is a link that leads nowhere, and so are 2 others; mend such links");
  for (const char* name : {"class/b.jpg", "class/c.jpg", "zebra"}) fs::remove_all(root() / name);
  fs::create_directory_symlink("..", root() / "class/loop");
  refused("class/loop/class: is a link to a folder that it lies in");
  fs::remove(root() / "class/loop");
  if (geteuid() == 0) return;  // root reads everything
  fs::permissions(root() / "class", fs::perms::none);
  refused("class: Permission denied; make it readable");
  fs::permissions(root() / "class", fs::perms::owner_all);
}

TEST_F(ImageFolder, WithoutPicturesSaysWhatLiesThereInstead) {
  const std::string no = "mine: holds no .jpg or .jpeg; else it holds ";
  for (const char* name : {"a.txt", "b/c.txt", "b/d.csv", "b/deep/e.json", "b/README"}) put(name);
  refused(no +
          "5 (2 .txt, 1 .csv, 1 .json, 1 of another kind); give the folder of the pictures, or "
          "another --data");
  for (const char* name : {"a.png", "b.png", "c.png"}) put(name);
  refused(no + "8 (3 .png, 2 .txt, ");
  for (int i = 0; i < 4; ++i) put("part" + std::to_string(i) + ".parquet");
  refused("; write the pictures to files or tar shards, and give their folder");
  for (int i = 0; i < 5; ++i) put("part" + std::to_string(i) + ".zip");
  refused("; unpack first, and give the folder of the pictures");
}

TEST_F(ImageFolder, ThatIsFlatIsOneClass) {
  put("b.jpg", "12");
  put("a.JPG", "1");
  put("notes/readme.txt");
  const storage::DatasetVariant flat = list();
  EXPECT_THAT(paths(flat), ElementsAre("a.JPG 0 1", "b.jpg 0 2"));
  EXPECT_EQ(flat.classes, 1);
  EXPECT_EQ(storage::listing_note(flat),
            root().string() + ": no class folders: one class; left out: 1 (1 other)");
  EXPECT_EQ(storage::make_storage(flat)->read(flat.samples[1]).bytes.size(), 2u);
  put("dog/c.jpg");
  const storage::DatasetVariant mixed = list();
  EXPECT_THAT(paths(mixed), ElementsAre("dog/c.jpg 0 1"));
  EXPECT_EQ(storage::listing_note(mixed),
            root().string() +
                ": left out: 4 (2 in no class folder, 1 class folder without "
                "pictures, 1 other)");
  EXPECT_FALSE(mixed.made.contains(storage::kLayout));
  for (const char* name : {"a.JPG", "b.jpg", "notes"}) fs::remove_all(root() / name);
  EXPECT_EQ(list().classes, 1) << "one class folder";
  EXPECT_EQ(storage::listing_note(list()), "") << "there is nothing to say";
  fs::create_symlink("nowhere.jpg", root() / "e.jpg");
  EXPECT_EQ(list().samples.size(), 1u) << "what lies in no class is left out anyway";
  fs::remove_all(root() / "dog");
  refused("mine/e.jpg: is a link that leads nowhere");
}

TEST_F(ImageFolder, WhatIsHiddenIsLeftOut) {
  put("cat/a.jpg");
  put("dog/b.jpg");
  for (const char* name :
       {".DS_Store", ".git/c.jpg", ".ipynb_checkpoints/d.jpg", "__MACOSX/cat/._a.jpg", "Thumbs.db",
        "cat/._a.jpg", "cat/.ipynb_checkpoints/a-checkpoint.jpg", "dog/desktop.ini",
        "lost+found/e.jpg", "dog/@eaDir/b.jpg"})
    put(name);
  ASSERT_EQ(mkfifo((root() / "dog/.pipe.jpg").c_str(), 0600), 0);
  fs::create_symlink("nowhere", root() / "dog/._b.jpg");
  const storage::DatasetVariant variant = list();
  EXPECT_THAT(paths(variant), ElementsAre("cat/a.jpg 0 1", "dog/b.jpg 1 1"));
  EXPECT_EQ(variant.classes, 2);
  EXPECT_EQ(variant.made.at(storage::kLeftOut), "12 (12 hidden)");
  static constexpr std::string_view kJpeg[] = {".jpg"};
  EXPECT_THAT(storage::list_pictures(root(), kJpeg),
              testing::UnorderedElementsAre("cat/a.jpg", "dog/b.jpg"));
  for (const char* name : {"cat", "dog"}) fs::remove_all(root() / name);
  const auto none = [](const std::string&) { return false; };
  EXPECT_EQ(storage::find_picture(root(), kJpeg, none), "");
  EXPECT_FALSE(storage::holds_class_pictures(root(), kJpeg));
  refused("mine: holds no .jpg or .jpeg; else it holds 6 (6 hidden)");
}

TEST_F(ImageFolder, WhatIsLeftOutIsCountedByKind) {
  put("cat/a.jpg");
  for (int i = 0; i < 30; ++i) put("cat/" + std::to_string(i) + ".webp");
  for (const char* name : {"cat/b.GIF", "cat/deep/c.png", "cat/notes.txt", "cat/Makefile",
                           "index.csv", "front.png", "none/d.png"})
    put(name);
  fs::create_symlink("nowhere", root() / "cat/README");
  fs::create_directories(root() / "empty");
  EXPECT_EQ(list().made.at(storage::kLeftOut),
            "40 (30 webp, 3 other, 3 png, 2 class folders without pictures, 1 gif, 1 link that "
            "leads nowhere)");
}

TEST_F(ImageFolder, NamesMayHoldAnyBytes) {
  const std::string odd = "a\nb\x1b[31m\xff\xc3";
  put(odd + "/" + odd + ".jpg", "12");
  put("z/c.jpg");
  const storage::DatasetVariant variant = list();
  EXPECT_THAT(paths(variant), ElementsAre(odd + "/" + odd + ".jpg 0 2", "z/c.jpg 1 1"));
  const auto storage = storage::make_storage(variant);
  EXPECT_EQ(storage->read(variant.samples[0]).bytes.size(), 2u);
  put(odd + "/" + odd + ".jpg", "1");
  const std::string shown = "a\\x0ab\\x1b[31m\\xff\\xc3";
  EXPECT_THAT([&] { storage->read(variant.samples[0]); },
              ThrowsMessage<Error>(HasSubstr("mine/" + shown + "/" + shown + ".jpg: has 1 bytes")));
}

// Left out in silence it would be missed, and opened it would keep its reader for ever.
TEST_F(ImageFolder, RefusesWhatIsNoFileAndHasAPicturesName) {
  constexpr const char* kReason = ": is no file: a pipe, a socket or a device; take it out";
  put("class/a.jpg");
  ASSERT_EQ(mkfifo((root() / "class/pipe.JPG").c_str(), 0600), 0);
  refused(std::string("class/pipe.JPG") + kReason);
  static constexpr std::string_view kJpeg[] = {".jpg"};
  EXPECT_THAT([&] { storage::list_pictures(root(), kJpeg); },
              ThrowsMessage<Error>(HasSubstr(kReason)));
  fs::rename(root() / "class/pipe.JPG", folder_.path() / "pipe");
  EXPECT_EQ(list().samples.size(), 1u);
  fs::create_symlink(folder_.path() / "pipe", root() / "class/link.jpg");
  refused(std::string("class/link.jpg") + kReason);
  fs::remove(root() / "class/link.jpg");
  fs::create_symlink("/dev/null", root() / "class/device.jpg");
  refused(std::string("class/device.jpg") + kReason);
  fs::remove(root() / "class/device.jpg");
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string socket_path = folder_.path() / "socket";  // a short one: its room is small
  ASSERT_LT(socket_path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  close(socket);
  fs::rename(socket_path, root() / "class/socket.jpg");
  refused(std::string("class/socket.jpg") + kReason);
}

TEST_F(ImageFolder, WhatIsNoPictureDoesNoHarm) {
  put("class/a.jpg");
  for (const char* place : {"", "class"}) {
    fs::create_symlink("../gone", root() / place / "README");
    fs::create_symlink("self", root() / place / "self");
    fs::create_symlink(root() / "class/a.jpg/below", root() / place / "through_a_file");
    std::ofstream(root() / place / "a\nb.txt") << "x";
    ASSERT_EQ(mkfifo((root() / place / "pipe.txt").c_str(), 0600), 0);
  }
  EXPECT_THAT(paths(list()), ElementsAre("class/a.jpg 0 1"));
  static constexpr std::string_view kJpeg[] = {".jpg"};
  EXPECT_THAT(storage::list_pictures(root(), kJpeg), ElementsAre("class/a.jpg"));
}

TEST_F(ImageFolder, ALinkThatCannotBeFollowedMayBeAFolder) {
  if (geteuid() == 0) GTEST_SKIP() << "root follows every link";
  put("class/a.jpg");
  fs::create_directories(folder_.path() / "closed/below");
  fs::create_directory_symlink(folder_.path() / "closed/below", root() / "linked");
  fs::permissions(folder_.path() / "closed", fs::perms::none);
  refused("linked: Permission denied; make it readable");
  fs::permissions(folder_.path() / "closed", fs::perms::owner_all);
}

TEST_F(ImageFolder, OfTarFilesSaysHowTheyAreRead) {
  static constexpr std::string_view kJpeg[] = {".jpg"};
  put("a.tar");
  refused("mine: holds tar files, not class folders; read them as shards: --container webdataset");
  put("other/1.png"), put("other/2.png");
  refused(
      "mine: holds no .jpg or .jpeg; else it holds 3 (2 .png, 1 .tar); give the folder of the "
      "pictures, or another --data");
  EXPECT_FALSE(storage::holds_class_pictures(root(), kJpeg));
  put("class/notes.txt");
  EXPECT_FALSE(storage::holds_class_pictures(root(), kJpeg));
  put("class/deep/a.jpg");
  EXPECT_TRUE(storage::holds_class_pictures(root(), kJpeg));
  EXPECT_EQ(list().samples.size(), 1u);
}

TEST_F(ImageFolder, IsListedWithWhatLiesInNoClass) {
  static constexpr std::string_view kJpeg[] = {".jpg"};
  put("class/deep/a.jpg");
  put("b.jpg");
  put("c.png");
  EXPECT_THAT(storage::list_pictures(root(), kJpeg),
              testing::UnorderedElementsAre("class/deep/a.jpg", "b.jpg"));
  EXPECT_THAT(storage::list_pictures(root() / "class/deep", kJpeg), ElementsAre("a.jpg"));
}

TEST_F(ImageFolder, IsWhatGenHasNotMade) {
  EXPECT_FALSE(storage::is_image_folder(root()));
  put("class/a.jpg");
  EXPECT_TRUE(storage::is_image_folder(root()));
  put("dataset.json");
  EXPECT_FALSE(storage::is_image_folder(root()));
  fs::remove(root() / "dataset.json");
  put("jpeg/48x48/files.tsv");
  EXPECT_FALSE(storage::is_image_folder(root())) << "it has lost its dataset.json";
}

TEST_F(ImageFolder, TellsHowFarItIs) {
  for (int i = 0; i < 2100; ++i) put("class/" + std::to_string(i) + ".jpg", "");
  std::vector<std::uint64_t> told;
  static constexpr std::string_view kJpeg[] = {".jpg"};
  storage::list_image_folder(root(), kJpeg, 2, [&](std::uint64_t n) { told.push_back(n); });
  EXPECT_THAT(told, testing::IsSupersetOf({1024u, 2048u}));
}

// One file may take longer than a stall does.
TEST_F(ImageFolder, VerifyTellsEachPieceOfAFile) {
  put("class/a.jpg", std::string(1 << 20, 'x'));
  std::vector<std::string> told;
  storage::verify_own_folder(list(), 1, {}, [&](const std::string& path) { told.push_back(path); });
  EXPECT_GE(std::ranges::count(told, (root() / "class/a.jpg").string()), 4);
}

// Two copies that lack different contents would have the same checksum.
TEST_F(ImageFolder, VerifyHasNoChecksumOfContentsThatItCouldNotRead) {
  put("class/a.jpg", "a");
  put("class/b.jpg", "b");
  const auto listed = list();
  EXPECT_FALSE(storage::verify_own_folder(listed, 1, {}).contents_xxh3.empty());
  std::filesystem::remove(root() / "class/a.jpg");
  const storage::VerifyResult result = storage::verify_own_folder(listed, 1, {});
  EXPECT_FALSE(result.is_sound());
  EXPECT_EQ(result.contents_xxh3, "");
}

TEST_F(ImageFolder, VerifyLooksAtTheBytesOfEachSampleThatIsWhole) {
  put("class/a.jpg", "good");
  put("class/b.jpg", "bad");
  put("class/c.jpg", "");
  put("class/d.jpg", std::string(1 << 20, 'x'));  // of several pieces
  const auto listed = list();
  std::filesystem::remove(root() / "class/a.jpg");
  put("class/a.jpg", "other length");
  std::atomic<int> made = 0, looked = 0;
  const auto check = [&](std::span<const std::byte> bytes, const std::string& name) {
    ++looked;
    if (name == "class/d.jpg") return bytes.size() == 1 << 20 ? "" : "cut off";
    return bytes.empty() ? "empty" : "bad one";
  };
  const storage::VerifyResult result = storage::verify_own_folder(
      listed, 2, {}, [](const std::string&) {}, [&] { return ++made, check; });
  EXPECT_EQ(made, 2) << "one for each thread";
  EXPECT_EQ(looked, 3) << "what has changed is looked at no further";
  EXPECT_THAT(result.bad, ElementsAre("class/b.jpg: bad one", "class/c.jpg: empty"));
  EXPECT_THAT(result.damaged, ElementsAre("class/a.jpg: changed while it was read"));
  EXPECT_FALSE(result.is_sound());
}

TEST_F(ImageFolder, BadPicturesHaveAChecksumOfContents) {
  put("class/a.jpg", "bad");
  const auto check = [](std::span<const std::byte>, const std::string&) { return "bad"; };
  const storage::VerifyResult result =
      storage::verify_own_folder(list(), 1, {}, [](const std::string&) {}, [&] { return check; });
  EXPECT_FALSE(result.is_sound());
  EXPECT_EQ(result.contents_xxh3, storage::verify_own_folder(list(), 1, {}).contents_xxh3);
}

// Thousands of classes are not looked into for the files of a dataset that `gen` made.
TEST_F(ImageFolder, OfManyFoldersIsNoDatasetOfGen) {
  put("class_0/48x48/files.tsv");
  EXPECT_FALSE(storage::is_image_folder(root()));
  for (int i = 1; i <= 256; ++i) fs::create_directories(root() / ("class_" + std::to_string(i)));
  EXPECT_TRUE(storage::is_image_folder(root()));
}

// Folders whose files are not counted yet may take longer than a stall does.
TEST(ListCount, TellsThatItGoesOn) {
  std::vector<std::uint64_t> told;
  storage::ListCount count([&](std::uint64_t n) { told.push_back(n); });
  measure::sleep_until_ns(measure::now_ns() + 250'000'000);
  count.alive();
  EXPECT_THAT(told, ElementsAre(0U));
  count.one();
  measure::sleep_until_ns(measure::now_ns() + 250'000'000);
  count.one();
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back(), 2U);
}

}  // namespace
}  // namespace feedrate::tests
