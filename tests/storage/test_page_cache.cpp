// What can be said of files in the page cache, and what it takes to drop them.
#include "storage/page_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "storage/container.h"
#include "tests/message_of.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Files of five pages and a bit, just written.
class PageCache : public testing::Test {
 protected:
  static constexpr std::uint64_t kBytes = 5 * 4096 + 17;

  PageCache() {
    variant_.folder = folder_.path();
    variant_.container = storage::find_container("files");
    for (int i = 0; i < 12; ++i) add("f" + std::to_string(i));
  }
  void add(const std::string& name) {
    variant_.samples.push_back({name, 0, kBytes});
    storage::sum_up(variant_);
    std::ofstream(folder_.path() / name) << std::string(kBytes, 'x');
  }
  storage::Residency look(std::size_t most = 100) {
    return storage::page_cache_residency(variant_, most);
  }
  // tmpfs and its like keep what they hold.
  bool can_drop() {
    storage::drop_from_page_cache(variant_);
    return look().share < 1;
  }

  TemporaryFolder folder_;
  storage::DatasetVariant variant_;
};

TEST_F(PageCache, HoldsWhatWasJustWritten) {
  const storage::Residency found = look();
  EXPECT_EQ(found.share, 1);
  EXPECT_EQ(found.files, 12u);
  EXPECT_GE(found.bytes, 12 * kBytes);
  if (found.by != "mincore") {
    EXPECT_EQ(found.by, "cachestat");
    EXPECT_GE(found.unwritten_pages, 0);
  }
}

TEST_F(PageCache, HoldsNothingOfDroppedFiles) {
  if (!can_drop()) GTEST_SKIP() << "this file system keeps them";
  EXPECT_EQ(look().share, 0);
  EXPECT_EQ(look().bytes, 0u);
  EXPECT_EQ(look().files, 12u);
  EXPECT_LE(look().unwritten_pages, 0);
  text_of(folder_.path() / "f3");
  EXPECT_NEAR(look().share, 1.0 / 12, 1e-9);
  storage::warm_page_cache(variant_);
  EXPECT_EQ(look().share, 1);
}

TEST_F(PageCache, APackedFileIsWarmedToItsEnd) {
  constexpr std::uint64_t kLength = (1 << 20) + 17;
  std::ofstream(folder_.path() / "all") << std::string(kLength, 'x');
  variant_.packed = {"all"};
  variant_.packed_bytes = {kLength};
  variant_.samples = {{"a", 0, 100, 0, 512}, {"b", 0, 100, 0, 700'000}};
  if (!can_drop()) GTEST_SKIP() << "this file system keeps it";
  EXPECT_EQ(look().share, 0);
  storage::warm_page_cache(variant_);
  EXPECT_EQ(look().share, 1) << "what lies between its samples too";
}

TEST_F(PageCache, WarmingEndsEarlyWhenToldTo) {
  if (!can_drop()) GTEST_SKIP() << "this file system keeps them";
  std::stop_source stop;
  stop.request_stop();
  storage::warm_page_cache(variant_, stop.get_token());
  EXPECT_EQ(look().share, 0);
}

TEST_F(PageCache, WarmingLeavesWhatCannotBeReadToOthers) {
  fs::remove(folder_.path() / "f0");
  fs::remove(folder_.path() / "f1");
  fs::create_directory(folder_.path() / "f1");
  storage::warm_page_cache(variant_);
  fs::remove(folder_.path() / "f1");
  EXPECT_EQ(look().share, 1);
}

TEST_F(PageCache, OfManyFilesSomeAreLookedAtEvenly) {
  if (!can_drop()) GTEST_SKIP() << "this file system keeps them";
  for (const char* name : {"f0", "f4", "f8"}) text_of(folder_.path() / name);
  EXPECT_EQ(look(3).files, 3u);
  EXPECT_EQ(look(3).share, 1) << "the first of each third";
  EXPECT_EQ(look(6).share, 0.5);
  EXPECT_EQ(look(12).share, 0.25);
  EXPECT_EQ(look(1'000).files, 12u);
}

TEST_F(PageCache, WhatCannotBeLookedAtIsLeftOut) {
  fs::remove(folder_.path() / "f5");
  std::ofstream(folder_.path() / "f6").flush();  // without a byte
  EXPECT_EQ(look().files, 10u);
  EXPECT_EQ(look().share, 1);
  for (const storage::SampleFile& sample : variant_.samples)
    fs::remove(folder_.path() / sample.path);
  EXPECT_EQ(look().share, -1);
  EXPECT_EQ(look().by, "");
  EXPECT_EQ(look().files, 0u);
}

// Files that others own and that this user may only read: the kernel would call them resident.
TEST_F(PageCache, TellsNothingOfWhatThisUserMayNotKnow) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  fs::permissions(folder_.path(), fs::perms::all);
  ASSERT_EQ(seteuid(65'534), 0);
  const storage::Residency found = look();
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_EQ(found.share, -1);
  EXPECT_EQ(found.files, 0u);
}

TEST_F(PageCache, FilesBelowAreDroppedToo) {
  if (!can_drop()) GTEST_SKIP() << "this file system keeps them";
  // Larger than what is written back at once.
  const std::vector<fs::path> below = {folder_.path() / "disk.img", folder_.path() / "gone.img"};
  std::ofstream(below[0]) << std::string(40 << 20, 'x');
  EXPECT_EQ(storage::page_cache_residency(below, variant_).share, 1);
  storage::drop_from_page_cache(variant_, below);
  const storage::Residency found = storage::page_cache_residency(below, variant_);
  EXPECT_EQ(found.share, 0);
  EXPECT_EQ(found.files, 1u) << "the other one is not there, and that is no error";
}

TEST_F(PageCache, AMissingFileOfTheDatasetIsAnError) {
  fs::remove(folder_.path() / "f7");
  const std::string said = message_of([&] { storage::drop_from_page_cache(variant_); });
  EXPECT_NE(said.find("f7: No such file"), std::string::npos) << said;
  EXPECT_NE(said.find("feedrate verify"), std::string::npos) << said;
}

TEST_F(PageCache, EndsEarlyWhenToldTo) {
  std::stop_source stop;
  stop.request_stop();
  fs::remove(folder_.path() / "f0");
  storage::drop_from_page_cache(variant_, {}, stop.get_token());
  EXPECT_EQ(storage::page_cache_residency(variant_, 100, stop.get_token()).files, 0u);
}

// Writing 3 is what the kernel takes for "names, inodes and pages".
TEST(DropCaches, WritesThreeWhereItMay) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "drop_caches";
  EXPECT_FALSE(storage::drop_all_caches({}, file)) << "it is not there";
  std::ofstream(file).flush();
  EXPECT_TRUE(storage::drop_all_caches({}, file));
  EXPECT_EQ(text_of(file), "3\n");
  EXPECT_FALSE(storage::drop_all_caches({}, folder.path())) << "nobody writes into a folder";
}

// A pipe that is full takes no more, as a kernel does that is busy.
TEST(DropCaches, IsNotWaitedForWithoutEnd) {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int fd = open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  const std::string block(4096, '.');
  while (write(fd, block.data(), block.size()) > 0) {
  }
  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(storage::drop_all_caches({}, pipe, 0.05));
  std::stop_source stop;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop.request_stop();
  });
  EXPECT_FALSE(storage::drop_all_caches(stop.get_token(), pipe, 60));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
  // Lets both writers end, before there is nobody left to read.
  std::string taken(1 << 20, '.');
  for (std::ptrdiff_t ended = 0; ended < 2;) {
    const ssize_t count = read(fd, taken.data(), taken.size());
    if (count > 0) ended += std::count(taken.begin(), taken.begin() + count, '3');
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  close(fd);
}

}  // namespace
}  // namespace feedrate::tests
