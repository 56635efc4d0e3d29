#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/whole_file.h"
#include "storage/container.h"
#include "storage/image_folder.h"
#include "storage/io_engine.h"
#include "storage/kept_file.h"
#include "storage/kept_listing.h"
#include "tests/message_of.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

// Whether a folder was listed anew is seen by a file that was written again: the kept listing has
// its old size.
class KeptListings : public testing::Test {
 protected:
  KeptListings() {
    setenv("XDG_CACHE_HOME", cache().c_str(), 1);
    put("cat/a.jpg", "1");
    put("cat/deep/b.jpg", "22");
    put("cat/z.jpg", "333");
    put("dog/a.jpg", "4444");
    put("dog/notes.txt", "x");
    age_all();
  }
  ~KeptListings() override { unsetenv("XDG_CACHE_HOME"); }

  fs::path root() const { return folder_.path() / "mine"; }
  fs::path cache() const { return folder_.path() / "cache"; }
  void put(const std::string& path, const std::string& text) const {
    fs::create_directories((root() / path).parent_path());
    std::ofstream(root() / path, std::ios::binary) << text;
  }
  // A folder that has just been changed is listed again each time.
  void age(const fs::path& folder) const {
    fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::hours(++hours_));
  }
  void age_all() const {
    age(root());
    for (const auto& entry : fs::recursive_directory_iterator(root()))
      if (entry.is_directory()) age(entry.path());
  }
  storage::DatasetVariant list(bool relist = false, int threads = 2) const {
    static constexpr std::string_view kJpeg[] = {".jpg"};
    return storage::list_image_folder(root(), kJpeg, threads, {}, {}, {.relist = relist});
  }
  // The file systems that list_in_run() finds, as /proc/self/mounts has them.
  void mount(const std::string& table) const {
    fs::create_directories(folder_.path() / "proc/self");
    std::ofstream(folder_.path() / "proc/self/mounts") << table;
  }
  storage::DatasetVariant list_in_run(const std::string& run) const {
    static constexpr std::string_view kJpeg[] = {".jpg"};
    return storage::list_image_folder(root(), kJpeg, 2, {}, {},
                                      {.run = run, .proc = folder_.path() / "proc"});
  }
  // As a machine would that has never listed it.
  storage::DatasetVariant list_afresh() const {
    setenv("XDG_CACHE_HOME", (folder_.path() / "other").c_str(), 1);
    fs::remove_all(folder_.path() / "other");
    storage::DatasetVariant variant = list();
    setenv("XDG_CACHE_HOME", cache().c_str(), 1);
    return variant;
  }
  void expect_as_listed_afresh(const storage::DatasetVariant& variant) const {
    const storage::DatasetVariant fresh = list_afresh();
    EXPECT_EQ(lines(variant), lines(fresh));
    EXPECT_EQ(variant.manifest_xxh3, fresh.manifest_xxh3);
    EXPECT_EQ(variant.classes, fresh.classes);
    EXPECT_EQ(variant.total_bytes, fresh.total_bytes);
    EXPECT_EQ(variant.made, fresh.made);
  }
  static std::string said(const storage::DatasetVariant& variant, const char* what) {
    const auto found = variant.made.find(what);
    return found == variant.made.end() ? "" : found->second;
  }
  static std::vector<std::string> lines(const storage::DatasetVariant& variant) {
    std::vector<std::string> all;
    for (const storage::SampleFile& sample : variant.samples)
      all.push_back(sample.path + " " + std::to_string(sample.label) + " " +
                    std::to_string(sample.bytes));
    return all;
  }
  std::vector<fs::path> kept() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::recursive_directory_iterator(cache()))
      if (entry.is_regular_file()) all.push_back(entry.path());
    return all;
  }
  static std::string text_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  TemporaryFolder folder_;
  mutable int hours_ = 0;
};

TEST_F(KeptListings, IsTakenWhereNoFolderHasChanged) {
  const storage::DatasetVariant first = list();
  ASSERT_EQ(kept().size(), 1U);
  const std::string before = text_of(kept().front());
  const storage::DatasetVariant second = list(false, 1);
  EXPECT_EQ(lines(second), lines(first));
  EXPECT_EQ(second.manifest_xxh3, first.manifest_xxh3);
  expect_as_listed_afresh(second);
  EXPECT_EQ(text_of(kept().front()), before);
  put("dog/a.jpg", "longer than before");  // its folder is as it was
  EXPECT_EQ(lines(list()), lines(first)) << "nothing was listed anew";
  EXPECT_EQ(lines(list(/*relist=*/true)).back(), "dog/a.jpg 1 18");
  EXPECT_EQ(lines(list()).back(), "dog/a.jpg 1 18") << "and that is kept";
}

TEST_F(KeptListings, AFolderThatChangedIsListedAnewAlone) {
  list();
  put("cat/a.jpg", "longer than before");
  put("dog/a.jpg", "longer than before");
  put("dog/b.jpg", "new");
  age(root() / "dog");
  EXPECT_THAT(lines(list()), ElementsAre("cat/a.jpg 0 1", "cat/deep/b.jpg 0 2", "cat/z.jpg 0 3",
                                         "dog/a.jpg 1 18", "dog/b.jpg 1 3"));
  list(/*relist=*/true);
  fs::remove(root() / "cat/deep/b.jpg");
  put("cat/deep/c.jpg", "55555");
  age(root() / "cat/deep");
  const storage::DatasetVariant deeper = list();
  EXPECT_EQ(lines(deeper)[1], "cat/deep/c.jpg 0 5");
  expect_as_listed_afresh(deeper);
}

TEST_F(KeptListings, ClassesMayComeAndGo) {
  list();
  put("bird/a.jpg", "1");
  age(root() / "bird");
  const storage::DatasetVariant more = list();
  EXPECT_EQ(more.classes, 3);
  EXPECT_EQ(lines(more).front(), "bird/a.jpg 0 1");
  EXPECT_EQ(lines(more).back(), "dog/a.jpg 2 4") << "its label has changed, its folder has not";
  expect_as_listed_afresh(more);
  fs::remove_all(root() / "cat");
  const storage::DatasetVariant fewer = list();
  EXPECT_THAT(lines(fewer), ElementsAre("bird/a.jpg 0 1", "dog/a.jpg 1 4"));
  expect_as_listed_afresh(fewer);
  EXPECT_THAT(text_of(kept().front()), testing::Not(HasSubstr("cat")));
}

// Each class folder's counts are kept; those of the root are made anew.
TEST_F(KeptListings, WhatWasLeftOutIsKeptToo) {
  for (const char* name : {".hidden.jpg", "cat/._a.jpg", "cat/deep/b.webp", "cat/deep/Thumbs.db",
                           "none/notes.txt", "front.jpg", "__MACOSX/cat/a.jpg"})
    put(name, "x");
  age_all();
  const storage::DatasetVariant first = list();
  EXPECT_EQ(said(first, storage::kLeftOut),
            "9 (4 hidden, 2 other, 1 class folder without pictures, 1 in no class folder, 1 webp)");
  EXPECT_EQ(first.classes, 2);
  put("dog/a.jpg", "longer than before");
  const storage::DatasetVariant second = list();
  EXPECT_EQ(lines(second), lines(first)) << "nothing was listed anew";
  EXPECT_EQ(second.made, first.made);
  EXPECT_EQ(second.classes, 2);
  EXPECT_EQ(second.manifest_xxh3, first.manifest_xxh3);
  fs::rename(root() / "cat/a.jpg", root() / "cat/.a.jpg");
  put("top.jpg", "x");
  age(root() / "cat"), age(root());
  const storage::DatasetVariant third = list();
  EXPECT_THAT(lines(third), ElementsAre("cat/deep/b.jpg 0 2", "cat/z.jpg 0 3", "dog/a.jpg 1 4"));
  EXPECT_EQ(said(third, storage::kLeftOut),
            "11 (5 hidden, 2 in no class folder, 2 other, 1 class folder without pictures, 1 "
            "webp)");
  EXPECT_NE(third.manifest_xxh3, first.manifest_xxh3);
  list(/*relist=*/true);
  expect_as_listed_afresh(list());
}

TEST_F(KeptListings, AFlatFolderIsKeptToo) {
  for (const char* name : {"cat", "dog"}) fs::remove_all(root() / name);
  put("b.jpg", "1");
  put("a.jpg", "22");
  put(".hidden.jpg", "x");
  put("none/notes.txt", "x");
  age_all();
  const storage::DatasetVariant first = list();
  EXPECT_THAT(lines(first), ElementsAre("a.jpg 0 2", "b.jpg 0 1"));
  EXPECT_EQ(said(first, storage::kLayout), "no class folders: one class");
  EXPECT_EQ(said(first, storage::kLeftOut), "2 (1 hidden, 1 other)");
  put("b.jpg", "longer than before");
  const storage::DatasetVariant second = list();
  EXPECT_EQ(lines(second), lines(first)) << "nothing was listed anew";
  EXPECT_EQ(second.made, first.made);
  EXPECT_EQ(second.manifest_xxh3, first.manifest_xxh3);
  put("c.jpg", "333");
  age(root());
  EXPECT_THAT(lines(list()), ElementsAre("a.jpg 0 2", "b.jpg 0 18", "c.jpg 0 3"));
  put("bird/d.jpg", "4444");
  age(root() / "bird"), age(root());
  const storage::DatasetVariant classes = list();
  EXPECT_THAT(lines(classes), ElementsAre("bird/d.jpg 0 4"));
  EXPECT_EQ(said(classes, storage::kLayout), "");
  expect_as_listed_afresh(classes);
  fs::remove_all(root() / "bird");
  age(root());
  EXPECT_EQ(list().samples.size(), 3U);
  expect_as_listed_afresh(list());
}

TEST_F(KeptListings, NamesMayHoldAnyBytes) {
  const std::string odd = "a\nb\t<\x1b\xff";
  put(odd + "/" + odd + "/\n-\t1.jpg", "22");
  put(odd + "/" + odd + ".jpg", "1");
  age_all();
  const storage::DatasetVariant first = list();
  EXPECT_EQ(first.samples.size(), 6U);
  put(odd + "/" + odd + ".jpg", "longer than before");
  EXPECT_EQ(lines(list()), lines(first)) << "nothing was listed anew";
  EXPECT_EQ(list().manifest_xxh3, first.manifest_xxh3);
}

// More than is read of it at once, in a folder with others in its midst.
TEST_F(KeptListings, MayBeLong) {
  const std::string long_name(150, 'x');
  for (int i = 100; i < 700; ++i) put("cat/" + std::to_string(i) + long_name + ".jpg", "22");
  put("cat/400/deep.jpg", "333");
  age_all();
  const storage::DatasetVariant first = list();
  ASSERT_EQ(first.samples.size(), 605U);
  ASSERT_GT(fs::file_size(kept().front()), 65'536U);
  put("cat/z.jpg", "longer than before");
  for (const int threads : {1, 3}) {
    const storage::DatasetVariant again = list(false, threads);
    EXPECT_EQ(lines(again), lines(first)) << "nothing was listed anew";
    EXPECT_EQ(again.manifest_xxh3, first.manifest_xxh3);
  }
  fs::remove(root() / "cat/400/deep.jpg");
  age(root() / "cat/400");
  EXPECT_EQ(list().samples.size(), 604U);
}

// A path takes what a string of its length takes, not twice that as one which has grown.
TEST_F(KeptListings, PathsHaveNoRoomToSpare) {
  put("cat/" + std::string(20, 'n') + ".jpg", "1");
  put("cat/deep/" + std::string(50, 'n') + ".jpg", "1");
  age_all();
  for (const char* how : {"listed", "kept"}) {
    std::size_t long_ones = 0;
    for (const storage::SampleFile& sample : list().samples) {
      if (sample.path.size() < 20) continue;
      EXPECT_LT(sample.path.capacity(), sample.path.size() + 8) << how << ": " << sample.path;
      ++long_ones;
    }
    EXPECT_EQ(long_ones, 2U) << how;
  }
}

// Its time may not tell what comes into it within the same tick.
TEST_F(KeptListings, AFolderThatHasJustChangedIsListedAgain) {
  fs::last_write_time(root() / "dog", fs::file_time_type::clock::now());
  list();
  put("dog/a.jpg", "longer than before");
  put("cat/a.jpg", "longer than before");
  EXPECT_EQ(lines(list()).back(), "dog/a.jpg 1 18");
  EXPECT_EQ(lines(list()).front(), "cat/a.jpg 0 1");
}

// Unpacked once more, say: programs set times of change, not those of status.
TEST_F(KeptListings, AFolderWhoseTimeWasSetBackIsListedAnew) {
  for (const char* how : {"added to", "made again"}) {
    list();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // ticks of the system's clock
    const auto time = fs::last_write_time(root() / "dog");
    if (how == std::string("made again")) fs::remove_all(root() / "dog");
    put("dog/a.jpg", how);
    put("dog/" + std::string(how) + ".jpg", "new");
    fs::last_write_time(root() / "dog", time);
    const storage::DatasetVariant changed = list();
    EXPECT_EQ(lines(changed).back(), "dog/" + std::string(how) + ".jpg 1 3");
    expect_as_listed_afresh(changed);
  }
}

TEST_F(KeptListings, OfFuseNothingIsKept) {
  for (const char* type : {"ext4", "nfs4", "fuse", "fuse.s3fs"}) {
    fs::remove_all(cache());
    fs::create_directories(cache());
    mount("device / " + std::string(type) + " rw 0 0\n");
    list_in_run("");
    EXPECT_EQ(kept().empty(), std::string(type).starts_with("fuse")) << type;
  }
}

// All processes of a run have the listing of the first; no other run has it.
TEST_F(KeptListings, OfFuseTheSameRunTakesIt) {
  mount("bucket / fuse.s3fs rw 0 0\n");
  const storage::DatasetVariant first = list_in_run("a");
  put("dog/a.jpg", "longer than before");
  put("dog/b.jpg", "new");
  const storage::DatasetVariant second = list_in_run("a");
  EXPECT_EQ(lines(second), lines(first)) << "nothing was listed anew";
  EXPECT_EQ(second.manifest_xxh3, first.manifest_xxh3);
  EXPECT_EQ(lines(list_in_run("")).back(), "dog/b.jpg 1 3");
  EXPECT_EQ(lines(list_in_run("b")).back(), "dog/b.jpg 1 3");
  fs::remove(root() / "dog/b.jpg");
  EXPECT_EQ(lines(list_in_run("b")).back(), "dog/b.jpg 1 3") << "it is the listing of that run";
  EXPECT_EQ(lines(list_in_run("a")).back(), "dog/a.jpg 1 18");
}

TEST_F(KeptListings, OfFuseBelowTheFolderNothingIsKept) {
  std::string elsewhere = "/dev/shm/feedrate-test-XXXXXX";
  if (mkdtemp(elsewhere.data()) == nullptr) GTEST_SKIP() << "there is no other file system";
  const std::unique_ptr<const std::string, void (*)(const std::string*)> removed(
      &elsewhere, [](const std::string* path) { fs::remove_all(*path); });
  struct stat here{}, there{};
  ASSERT_EQ(stat(root().c_str(), &here), 0);
  ASSERT_EQ(stat(elsewhere.c_str(), &there), 0);
  if (here.st_dev == there.st_dev) GTEST_SKIP() << "there is no other file system";
  const auto write = [&](const std::string& text) {
    std::ofstream(elsewhere + "/m.jpg", std::ios::binary) << text;
  };
  fs::create_directory_symlink(elsewhere, root() / "dog/mounted");
  for (const bool is_fuse : {false, true}) {
    write("1");
    age(elsewhere), age_all();
    mount("device / ext4 rw 0 0\nbucket /dev/shm " + std::string(is_fuse ? "fuse.s3fs" : "tmpfs") +
          " rw 0 0\n");
    EXPECT_EQ(lines(list_in_run("a")).back(), "dog/mounted/m.jpg 1 1");
    write("longer than before");
    put("cat/a.jpg", "longer than before");
    EXPECT_EQ(lines(list_in_run("a")).back(), "dog/mounted/m.jpg 1 1") << "of the same run";
    const storage::DatasetVariant other = list_in_run("b");
    EXPECT_EQ(lines(other).back(), is_fuse ? "dog/mounted/m.jpg 1 18" : "dog/mounted/m.jpg 1 1");
    EXPECT_EQ(lines(other).front(), "cat/a.jpg 0 1") << "the others are kept";
    list(/*relist=*/true);
    put("cat/a.jpg", "1");
  }
}

TEST_F(KeptListings, AnOldOneIsGoneWhereTheNewOneCannotBeWritten) {
  list();
  ASSERT_EQ(kept().size(), 1U);
  storage::replace_kept_file(kept().front(),
                             [](std::ostream& out) { out.setstate(std::ios::badbit); });
  EXPECT_THAT(kept(), testing::IsEmpty());
}

TEST_F(KeptListings, ALinkThatLeadsNowhereByNowIsNoFolder) {
  fs::create_directories(folder_.path() / "elsewhere");
  std::ofstream(folder_.path() / "elsewhere/l.jpg") << "l";
  fs::create_directory_symlink(folder_.path() / "elsewhere", root() / "cat/linked");
  age(folder_.path() / "elsewhere"), age_all();
  EXPECT_EQ(list().samples.size(), 5U);
  fs::remove_all(folder_.path() / "elsewhere");
  const storage::DatasetVariant without = list();
  EXPECT_EQ(without.samples.size(), 4U);
  expect_as_listed_afresh(without);
  age(root() / "cat");
  list();
  fs::create_directories(folder_.path() / "elsewhere");
  std::ofstream(folder_.path() / "elsewhere/l.jpg") << "l";
  EXPECT_EQ(list().samples.size(), 5U) << "it leads somewhere again";
}

TEST_F(KeptListings, IsMadeAgainWhereItIsDamaged) {
  const storage::DatasetVariant first = list();
  const fs::path file = kept().front();
  const std::string whole = text_of(file);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] ^= 1;
    for (const std::string& damaged : {flipped, whole.substr(0, i)}) {
      std::ofstream(file, std::ios::binary) << damaged;
      const storage::DatasetVariant again = list();
      ASSERT_EQ(again.manifest_xxh3, first.manifest_xxh3) << i;
      ASSERT_NE(text_of(file), damaged) << i << ": it is made again";
    }
  }
}

TEST_F(KeptListings, SeveralWritersDoNotDisturbEachOther) {
  const std::string expected = list_afresh().manifest_xxh3;
  std::vector<std::string> found(8);
  {
    std::vector<std::jthread> writers;
    for (std::string& hash : found)
      writers.emplace_back([&] {
        for (int i = 0; i < 20; ++i) hash = list(/*relist=*/i % 2 == 0, 1).manifest_xxh3;
      });
  }
  EXPECT_THAT(found, testing::Each(expected));
  EXPECT_EQ(kept().size(), 1U) << "no half of a file is left";
  EXPECT_EQ(list().manifest_xxh3, expected);
}

TEST_F(KeptListings, OtherSuffixesHaveOneOfTheirOwn) {
  static constexpr std::string_view kText[] = {".txt"};
  list();
  EXPECT_THAT(lines(storage::list_image_folder(root(), kText, 1)),
              ElementsAre("dog/notes.txt 0 1"));
  EXPECT_EQ(kept().size(), 2U);
  EXPECT_EQ(list().samples.size(), 4U);
}

TEST_F(KeptListings, IsDoneWithoutWhereNoneCanBeWritten) {
  std::ofstream(folder_.path() / "file") << "";
  setenv("XDG_CACHE_HOME", (folder_.path() / "file").c_str(), 1);
  EXPECT_EQ(list().samples.size(), 4U);
  EXPECT_EQ(list().samples.size(), 4U);
}

// Neither its folder's time nor its size tells.
TEST_F(KeptListings, AFileThatWasWrittenAgainIsRefusedByEveryEngine) {
  const storage::DatasetVariant listed = list();
  const storage::SampleFile &changed = listed.samples[0], &same = listed.samples[2];
  put(changed.path, "2");
  fs::last_write_time(root() / changed.path,
                      fs::file_time_type::clock::now() - std::chrono::hours(100));
  for (const storage::IoEngine& engine : storage::io_engines()) {
    std::unique_ptr<storage::Storage> storage;
    try {
      if (engine.check) engine.check();
      storage = storage::make_storage(listed, {&engine, 2});
      storage->read(same);
    } catch (const Error& error) {  // not on this machine, or not on this file system
      EXPECT_NE(engine.name, "buffered") << error.what();
      continue;
    }
    const std::string said = message_of([&] { storage->read(changed); });
    EXPECT_THAT(said, HasSubstr("cat/a.jpg: has another time of change; the file has changed since "
                                "it was listed: list the folder anew with --relist"))
        << engine.name;
    EXPECT_EQ(storage->read(same).bytes.size(), 3U) << engine.name << ": and goes on";
  }
  const storage::DatasetVariant anew = list(/*relist=*/true);
  EXPECT_EQ(storage::make_storage(anew)->read(anew.samples[0]).bytes.size(), 1U);
  EXPECT_NE(anew.manifest_xxh3, listed.manifest_xxh3);
}

TEST(LineReads, GoThroughAFileByPieces) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "lines";
  std::ofstream(file, std::ios::binary) << "one;;a line of several pieces;four;and no end";
  const PosixFile open = PosixFile::open_regular(file);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{4}, std::size_t{1000}}) {
    storage::LineReads lines(open.get(), ';', 0, piece);
    EXPECT_EQ(lines.next(), "one");
    EXPECT_EQ(lines.at(), 4U);
    EXPECT_EQ(lines.next(), "");
    EXPECT_EQ(lines.next(), "a line of several pieces");
    lines.go_to(0);
    EXPECT_EQ(lines.next(), "one");
    lines.go_to(30);
    EXPECT_EQ(lines.next(), "four");
    EXPECT_FALSE(lines.next().has_value());
    lines.go_to(1000);
    EXPECT_FALSE(lines.next().has_value()) << "behind its end";
    lines.go_to(5);
    EXPECT_EQ(lines.next(), "a line of several pieces");
  }
  EXPECT_FALSE(storage::LineReads(-1, ';').next().has_value()) << "no file";
}

TEST(ListedHow, SaysHowManyAndOfWhen) {
  storage::ListedHow how{
      .files = 1'300'000, .folders = 1000, .listed_anew = 1000, .since_s = 0, .seconds = 41};
  EXPECT_EQ(how.text(), "listed 1,300,000 files in 41 s (31,707 files/s)");
  how = {.files = 1'300'000,
         .folders = 1000,
         .kept_folders = 1000,
         .since_s = 1'796'000'000,
         .seconds = 0.31};
  EXPECT_EQ(how.text(), "listing of 1,300,000 files kept from 2026-11-30, checked in 0.3 s");
  EXPECT_TRUE(how.is_as_kept());
  how.listed_anew = 2;
  EXPECT_EQ(how.text(),
            "listing of 1,300,000 files kept from 2026-11-30, checked in 0.3 s; 2 of 1,000 folders "
            "were listed anew");
  EXPECT_FALSE(how.is_as_kept());
}

}  // namespace
}  // namespace feedrate::tests
