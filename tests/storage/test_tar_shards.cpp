// Tar shards of the user's own, as webdataset and tar write them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "storage/container.h"
#include "storage/listing.h"
#include "storage/tar_shards.h"
#include "storage/verify.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

// --- Tar files made by hand, so that they share no mistake with the program's own headers.

void put(std::string& block, std::size_t at, const std::string& text) {
  block.replace(at, text.size(), text);
}
std::string octal(std::size_t value, int digits) {
  char text[24];
  std::snprintf(text, sizeof text, "%0*zo", digits, value);
  return text;
}
void add_sum(std::string& block) {
  put(block, 148, "        ");
  std::size_t sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put(block, 148, octal(sum, 6) + "\0 "s);
}
std::string header(const std::string& name, std::size_t bytes, char type = '0') {
  std::string block(512, '\0');
  put(block, 0, name);
  put(block, 100, "0000644"), put(block, 108, "0001750"), put(block, 116, "0001750");
  put(block, 124, octal(bytes, 11)), put(block, 136, "14000000000");
  block[156] = type;
  put(block, 257, "ustar\00000"s);
  add_sum(block);
  return block;
}
std::string filled_up(const std::string& bytes) {
  return bytes + std::string((512 - bytes.size() % 512) % 512, '\0');
}
std::string member(const std::string& name, const std::string& bytes, char type = '0') {
  return header(name, bytes.size(), type) + filled_up(bytes);
}
const std::string kEnd(1024, '\0');

std::string pax(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  std::size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length) ++length;
  return std::to_string(length) + rest;
}

class TarShards : public testing::Test {
 protected:
  TarShards() {
    setenv("XDG_CACHE_HOME", cache().c_str(), 1);
    fs::create_directories(root());
  }
  ~TarShards() override { unsetenv("XDG_CACHE_HOME"); }

  fs::path root() const { return folder_.path() / "mine"; }
  fs::path cache() const { return folder_.path() / "cache"; }
  static void write(const fs::path& path, const std::string& bytes) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }
  void put_shard(const std::string& name, const std::string& bytes) const {
    write(root() / name, bytes);
  }
  // Makes a shard of what lies in a folder.
  void tar(const std::string& name, const fs::path& folder, const std::string& options = "") const {
    const std::string command =
        "tar -C " + folder.string() + " " + options + " -cf " + (root() / name).string() + " .";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }

  storage::DatasetVariant list(int threads = 2) {
    static constexpr std::string_view kJpeg[] = {".jpg", ".jpeg"};
    return storage::list_tar_shards(root(), kJpeg, threads, {},
                                    [&](const std::string& note) { notes_.push_back(note); });
  }
  static std::vector<std::string> samples(const storage::DatasetVariant& variant) {
    std::vector<std::string> all;
    for (const storage::SampleFile& sample : variant.samples)
      all.push_back(std::to_string(sample.shard) + " " + sample.path + " " +
                    std::to_string(sample.label));
    return all;
  }
  static std::vector<std::string> contents(const storage::DatasetVariant& variant) {
    const auto storage = storage::make_storage(variant);
    std::vector<std::string> all;
    for (const storage::SampleFile& sample : variant.samples) {
      const auto bytes = storage->read(sample).bytes;
      all.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return all;
  }
  void refused(const std::string& words) {
    EXPECT_THAT([&] { list(); }, ThrowsMessage<Error>(HasSubstr(words)));
  }
  void shard_refused(const std::string& bytes, const std::string& words) {
    put_shard("a.tar", bytes);
    refused("mine/a.tar: " + words);
  }
  std::vector<fs::path> indexes() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::recursive_directory_iterator(cache()))
      if (entry.is_regular_file()) all.push_back(entry.path());
    return all;
  }

  TemporaryFolder folder_;
  std::vector<std::string> notes_;
};

TEST_F(TarShards, AreReadAsTarWritesThem) {
  const std::string deep = std::string(80, 'd') + "/" + std::string(70, 'e');  // ustar splits it
  const std::string longer = deep + "/" + std::string(120, 'f') + ".jpg";      // and has no room
  const fs::path from = folder_.path() / "from";
  write(from / "cat/1.jpg", "one");
  write(from / "dog/2.JPEG", std::string(5000, '2'));
  write(from / (deep + "/3.jpg"), "");
  write(from / "dog/notes.txt", "no picture");
  fs::create_symlink("1.jpg", from / "cat/link.jpg");
  tar("a.tar", from, "--sort=name --format=ustar");
  EXPECT_THAT(samples(list()),
              ElementsAre("0 cat/1.jpg 0", "0 " + deep + "/3.jpg 1", "0 dog/2.JPEG 2"));
  write(from / longer, "longer");
  for (const char* format : {"gnu", "pax"}) {
    tar("a.tar", from, std::string("--sort=name --format=") + format);
    const storage::DatasetVariant variant = list();
    EXPECT_THAT(samples(variant), ElementsAre("0 cat/1.jpg 0", "0 " + deep + "/3.jpg 1",
                                              "0 " + longer + " 1", "0 dog/2.JPEG 2"))
        << format;
    EXPECT_THAT(contents(variant), ElementsAre("one", "", "longer", std::string(5000, '2')));
  }
}

TEST_F(TarShards, LabelsAreThoseBesideTheSamplesElseTheirFolders) {
  put_shard("b.tar", member("x/3.jpg", "c") + member("y/4.jpg", "d") + member("5.jpg", "e") + kEnd);
  put_shard("a.tar", member("1.cls", "7\n") + member("1.JPG", "a") + member("1.txt", "caption") +
                         member("w/2.jpg", "b") + member("w/2.cls", " 12") + kEnd);
  put_shard("not a shard", "x");
  const storage::DatasetVariant variant = list();
  // Folders by name: none, x, y.
  EXPECT_THAT(samples(variant),
              ElementsAre("0 1.JPG 7", "0 w/2.jpg 12", "1 x/3.jpg 1", "1 y/4.jpg 2", "1 5.jpg 0"));
  EXPECT_THAT(contents(variant), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_EQ(variant.classes, 13);
  EXPECT_EQ(variant.total_bytes, 5U);
  EXPECT_THAT(variant.packed, ElementsAre("a.tar", "b.tar"));
}

TEST_F(TarShards, SamplesAreTheMembersOfTheKind) {
  put_shard("a.tar", member("1.seg.jpg", "mask") + member("1.jpg", "1") + member("._1.jpg", "mac") +
                         member("2.jpg.txt", "t") + member("jpg", "j") + member("a.b/2.jpeg", "2") +
                         member("3.jpg/", "", '0') + member("link.jpg", "", '2') +
                         member("folder.jpg", "", '5') + kEnd);
  EXPECT_THAT(samples(list()), ElementsAre("0 1.jpg 0", "0 a.b/2.jpeg 1"));
}

TEST_F(TarShards, WhatIsHiddenIsLeftOut) {
  put_shard("a.tar", member("cat/1.jpg", "1") + member(".git/2.jpg", "2") +
                         member("cat/.ipynb_checkpoints/1.jpg", "3") +
                         member("__MACOSX/cat/4.jpg", "4") + member("dog/._5.a.jpg", "5") +
                         member("dog/6.jpg", "6") + kEnd);
  put_shard("._a.tar", "what macOS keeps");
  put_shard("._a.tar.gz", "what macOS keeps");
  const storage::DatasetVariant variant = list();
  EXPECT_THAT(samples(variant), ElementsAre("0 cat/1.jpg 0", "0 dog/6.jpg 1"));
  EXPECT_EQ(variant.made.at(storage::kLeftOut), "6 (6 hidden)") << "two of them beside the shard";
}

TEST_F(TarShards, OneWithoutSamplesIsLeftOutAndNamed) {
  put_shard("a.tar", member("1.txt", "no picture") + kEnd);
  put_shard("b.tar", member("x/2.jpg", "2") + kEnd);
  put_shard("c.tar", kEnd);
  put_shard("d.tar", member("y/3.jpg", "33") + kEnd);
  put_shard("e.tar", member("y/3.png", "of another format") + kEnd);
  for (const char* which : {"walked", "kept"}) {
    notes_.clear();
    const storage::DatasetVariant variant = list();
    EXPECT_THAT(samples(variant), ElementsAre("0 x/2.jpg 0", "1 y/3.jpg 1")) << which;
    EXPECT_THAT(contents(variant), ElementsAre("2", "33")) << which;
    EXPECT_THAT(variant.packed, ElementsAre("b.tar", "d.tar")) << which;
    EXPECT_EQ(variant.packed_bytes.size(), 2U);
    EXPECT_EQ(storage::first_sample_in(variant, 1).path, "y/3.jpg");
    EXPECT_EQ(variant.made.at(storage::kLeftOut), "4 (3 shards without pictures, 1 png)");
    EXPECT_THAT(notes_, ElementsAre(HasSubstr("mine/a.tar: holds no .jpg or .jpeg, like 2 more")));
  }
  for (const char* name : {"b.tar", "d.tar"}) fs::remove(root() / name);
  refused(
      "mine: holds no .jpg or .jpeg in any of its 3 shards; else it holds 1 (1 png); use another "
      "--data");
}

TEST_F(TarShards, WhatSomebodyMayMissIsCounted) {
  put_shard("a.tar", member("1.jpg", "1") + member("1.seg.jpg", "mask") + member("1.json", "{}") +
                         member("1.gif", "g") + member("cat/2.b.webp", "w") +
                         member("cat/at 10.22.00.JPEG", "2") + member("cat/._b.c.jpg", "mac") +
                         member("inner.tar", kEnd) + member("a.b/3.jpg", "3") + kEnd);
  put_shard("b.tar", member("4.jpg", "4") + member("inner.v1.tar", kEnd) +
                         member("5.jpg.txt", "no picture") + kEnd);
  put_shard("beside.jpg", "x");
  put_shard("._hidden.jpg", "x");
  for (const char* which : {"walked", "kept"}) {
    const storage::DatasetVariant variant = list();
    EXPECT_EQ(variant.samples.size(), 3U) << which;
    EXPECT_EQ(variant.made.at(storage::kLeftOut),
              "9 (2 hidden, 2 tar, 2 with further dots in their names, 1 gif, 1 picture beside the "
              "shards, 1 webp)")
        << which;
  }
  for (const char* name : {"b.tar", "beside.jpg", "._hidden.jpg"}) fs::remove(root() / name);
  put_shard("a.tar", member("1.jpg", "1") + member("1.seg.jpg", "mask") + kEnd);
  EXPECT_EQ(list().made.at(storage::kLeftOut), "1 (1 with further dots in its name)");
  put_shard("a.tar", member("1.jpg", "1") + kEnd);
  EXPECT_FALSE(list().made.contains(storage::kLeftOut));
}

TEST_F(TarShards, ATarOfTarsIsToBeUnpacked) {
  const std::string inner = member("n01_1.jpg", "1") + kEnd;
  shard_refused(member("n01.tar", inner) + member("n02.tar", inner) + kEnd,
                "holds no .jpg or .jpeg; else it holds 2 (2 tar); unpack it, and each tar file in "
                "it into a class folder of its own");
  shard_refused(member("n01.tar.gz", "x") + kEnd,
                "holds no .jpg or .jpeg; else it holds 1 (1 tar); unpack it");
  shard_refused(member("._n01.tar", "mac") + member("n01.tar", inner) + kEnd,
                "holds no .jpg or .jpeg; else it holds 2 (1 hidden, 1 tar); unpack it");
  shard_refused(member("1.a.jpg", "1") + kEnd,
                "holds no .jpg or .jpeg; else it holds 1 (1 with further dots in its name); rename "
                "them: a member's kind begins at the first dot of its name");
  put_shard("b.tar", member("1.txt", "x") + kEnd);
  put_shard("a.tar", member("n01.tar", inner) + kEnd);
  refused(
      "mine: holds no .jpg or .jpeg in any of its 2 shards; else it holds 1 (1 tar); unpack "
      "them");
}

TEST_F(TarShards, RepeatedNamesAndMissingLabelsAreCounted) {
  put_shard("a.tar", member("1.cls", "3") + member("1.jpg", "a") + member("2.cls", "4") +
                         member("2.jpg", "b") + kEnd);
  EXPECT_FALSE(list().made.contains(storage::kLayout));
  put_shard("b.tar", member("1.cls", "3") + member("1.jpg", "c") + member("5.jpg", "d") + kEnd);
  put_shard("c.tar", member("5.cls", "6") + member("7.jpg", "e") + kEnd);
  EXPECT_EQ(list().made.at(storage::kLayout),
            "1 sample has another one's name; 2 samples have no .cls in their shard: their "
            "folders are their classes");
  put_shard("c.tar", member("7.cls", "6") + member("7.jpg", "e") + member("7.txt", "e") + kEnd);
  EXPECT_EQ(list().made.at(storage::kLayout),
            "1 sample has another one's name; 1 sample has no .cls in its shard: its folder is "
            "its class");
}

TEST_F(TarShards, ExtendedHeadersAreFollowed) {
  const std::string name = std::string(200, 'n') + ".jpg";
  std::string binary = header("5.jpg", 0);
  put(binary, 124, "\x80"s + std::string(10, '\0') + "\x03"), add_sum(binary);
  std::string sized = header("4.jpg", 0);
  put_shard("a.tar", member("pax_global_header", pax("comment", "of git"), 'g') +
                         member("PaxHeaders/1", pax("mtime", "1.5") + pax("path", name), 'x') +
                         member("short.jpg", "one") +
                         member("././@LongLink", "./" + name + "\0"s, 'L') +
                         member("short.jpg", "two") + member("././@LongLink", "target", 'K') +
                         member("l.jpg", "", '1') + member("3.jpg", "three") +
                         member("PaxHeaders/4", pax("size", "4"), 'x') + sized + filled_up("four") +
                         binary + filled_up("bin") + kEnd);
  const storage::DatasetVariant variant = list();
  EXPECT_THAT(samples(variant), ElementsAre("0 " + name + " 0", "0 " + name + " 0", "0 3.jpg 0",
                                            "0 4.jpg 0", "0 5.jpg 0"));
  EXPECT_THAT(contents(variant), ElementsAre("one", "two", "three", "four", "bin"));
}

TEST_F(TarShards, EndAtTheEndOfTheArchiveOrOfTheFile) {
  const std::string whole = member("1.jpg", "one");
  for (const std::string& end : {""s, std::string(512, '\0'), kEnd, std::string(10240, '\0'),
                                 kEnd + member("2.jpg", "behind the end")}) {
    put_shard("a.tar", whole + end);
    EXPECT_THAT(contents(list()), ElementsAre("one")) << end.size();
  }
  put_shard("a.tar", header("1.jpg", 3) + "one");  // not filled up
  EXPECT_THAT(contents(list()), ElementsAre("one"));
}

TEST_F(TarShards, AShardThatIsCutShortIsRefused) {
  const std::string whole = member("1.jpg", "one") + member("d/2.jpg", std::string(3000, '2'));
  shard_refused(whole.substr(0, 2100), "is cut off at byte 2100, within the 3000 bytes of d/2.jpg");
  shard_refused(whole.substr(0, 1300), "is cut off within a header");
  shard_refused(whole.substr(0, 200), "is cut off within a header");
  shard_refused(whole + std::string(100, '\0'), "is cut off within a header");
  shard_refused(member("x", pax("path", "1.jpg"), 'x'), "is cut off within a header");
  shard_refused(header("x", 4000, 'x') + "short", "is cut off at byte 517, within the 4000 bytes");
}

TEST_F(TarShards, WhatIsNoTarIsRefused) {
  std::string damaged = member("1.jpg", "one") + member("2.jpg", "two") + kEnd;
  damaged[1024 + 3] ^= 1;
  shard_refused(damaged,
                "byte 1024 is no tar header, or a damaged one: its checksum is wrong; copy or make "
                "it again");
  shard_refused(std::string(600, 'x'), "byte 0 is no tar header");
  shard_refused("", "is empty; copy or make it again, or take it out of the folder");
  shard_refused(kEnd, "holds no .jpg or .jpeg; use another --data");
  shard_refused(member("1.png", "one") + kEnd, "holds no .jpg or .jpeg");
  std::string size = header("1.jpg", 0);
  put(size, 124, "\xff"s + std::string(11, '\xff')), add_sum(size);
  shard_refused(size, "byte 0 is a tar header without a size");
  put(size, 124, "\x80"s + std::string(11, '\xff')), add_sum(size);
  shard_refused(size, "byte 0 is a tar header without a size");
  shard_refused("\x1f\x8b\x08"s + std::string(600, 'x'), "is compressed (gzip); unpack it");
  shard_refused("\x28\xb5\x2f\xfd"s + std::string(600, 'x'), "is compressed (zstd)");
  shard_refused(member("x", "17 path=1.jpg\n", 'x') + member("1.jpg", "one"),
                "holds a damaged extended header at byte 512");
  shard_refused(member("x", "x", 'x') + member("1.jpg", "one"), "holds a damaged extended header");
  shard_refused(member("x", "2 ", 'x') + member("1.jpg", "one"), "holds a damaged extended header");
  shard_refused(member("x", std::string(1 << 21, 'x'), 'x'), "holds an extended header of more");
  shard_refused(member("1.jpg", "", 'S') + kEnd,
                "holds a sparse file: 1.jpg; pack the folder anew");
  shard_refused(member("x", pax("GNU.sparse.major", "1"), 'x') + member("1.jpg", "one"),
                "holds a sparse file");
}

TEST_F(TarShards, NamesThatLeadOutOfTheFolderAreRefused) {
  const auto named = [&](const std::string& name, const std::string& words) {
    shard_refused(member(name, "one") + kEnd, words);
    shard_refused(member("x", pax("path", name), 'x') + member("1.jpg", "one") + kEnd, words);
  };
  named("/etc/1.jpg", "holds an absolute path: /etc/1.jpg; pack the folder anew");
  named(".//1.jpg", "holds an absolute path: /1.jpg");
  named("../1.jpg", "holds a path with \"..\": ../1.jpg");
  named("a/../1.jpg", "holds a path with \"..\": a/../1.jpg");
  named("a/..", "holds a path with \"..\"");
  named("a\tb.jpg", "holds a name with control characters: a?b.jpg");
  shard_refused(member("", "one") + kEnd, "holds an empty name");
  put_shard("a.tar", member("..a/b..jpg", "no") + member("a../1.jpg", "one") + kEnd);
  EXPECT_THAT(samples(list()), ElementsAre("0 a../1.jpg 0")) << "dots in names are names";
}

TEST_F(TarShards, ALabelThatIsNoNumberIsRefused) {
  for (const std::string& label : {"dog"s, ""s, "-1"s, "1.5"s, "1000000"s, "99999999999999999999"s,
                                   std::string(100, '1'), "1 2"s}) {
    shard_refused(member("1.cls", label) + member("1.jpg", "one") + kEnd,
                  "1.cls: holds no class number; put the class there in digits");
  }
}

TEST_F(TarShards, SaysWhichFolderHasNone) {
  refused("mine: holds no *.tar; give the folder that holds the shards");
  fs::create_directories(root() / "jpeg.tar");
  EXPECT_EQ(storage::find_tar_shard(root()), "");
  refused("mine: holds no *.tar");
  EXPECT_EQ(storage::find_tar_shard(root() / "none"), "");
  put_shard("a.tar", member("1.jpg", "one") + kEnd);
  EXPECT_EQ(storage::find_tar_shard(root()), "a.tar");
  EXPECT_EQ(list().samples.size(), 1U);
  put_shard("b.tar.gz", "x");
  refused("mine/b.tar.gz: is compressed; unpack it (gunzip, zstd -d)");
  fs::remove(root() / "b.tar.gz");
  fs::create_symlink("nowhere", root() / "c.tar");
  refused("mine/c.tar: No such file or directory; mend it");
  fs::remove(root() / "c.tar");
  ASSERT_EQ(mkfifo((root() / "d.tar").c_str(), 0600), 0);
  refused("mine/d.tar: is no file");
  fs::remove(root() / "d.tar");
  put_shard("e.tar", "");
  refused("mine/e.tar: is empty; copy or make it again, or take it out of the folder");
}

// --- The kept index.

class KeptIndex : public TarShards {
 protected:
  KeptIndex() {
    put_shard("a.tar", member("1.cls", "3") + member("1.jpg", "one") + kEnd);
    put_shard("b.tar", member("x/2.jpg", "two") + kEnd);
    first_ = list();
  }
  // Spoils a shard's headers and leaves its size and time as they are: whoever walks it fails.
  void spoil(const std::string& name) const {
    const fs::path path = root() / name;
    struct stat before{};
    ASSERT_EQ(stat(path.c_str(), &before), 0);
    {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file << "spoilt";
    }
    const timespec times[2] = {before.st_atim, before.st_mtim};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  void expect_same(const storage::DatasetVariant& again) const {
    EXPECT_EQ(samples(again), samples(first_));
    EXPECT_EQ(again.manifest_xxh3, first_.manifest_xxh3);
    EXPECT_EQ(again.classes, first_.classes);
    EXPECT_EQ(again.packed_bytes, first_.packed_bytes);
  }

  storage::DatasetVariant first_;
};

TEST_F(KeptIndex, IsMadeOnceAndUsedFromThenOn) {
  ASSERT_EQ(indexes().size(), 1U);
  EXPECT_EQ(indexes().front().parent_path(), cache() / "feedrate" / "shards");
  spoil("a.tar");
  expect_same(list());
  expect_same(list(1));
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(KeptIndex, IsNotUsedWhereAllIsToBeListedAnew) {
  static constexpr std::string_view kJpeg[] = {".jpg", ".jpeg"};
  const auto relist = [&] { return storage::list_tar_shards(root(), kJpeg, 2, {}, {}, true); };
  expect_same(relist());
  spoil("a.tar");
  EXPECT_THROW(relist(), Error);
  expect_same(list());
}

TEST_F(KeptIndex, IsMadeAgainWhereAShardHasChanged) {
  put_shard("b.tar", member("x/2.jpg", "two") + member("x/3.jpg", "three") + kEnd);
  EXPECT_THAT(samples(list()), ElementsAre("0 1.jpg 3", "1 x/2.jpg 0", "1 x/3.jpg 0"));
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("mine: its shards are listed anew: the index " +
                                            indexes().front().string() + " is older than b.tar")));
  fs::last_write_time(root() / "a.tar", fs::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_NE(list().manifest_xxh3, first_.manifest_xxh3);
  EXPECT_THAT(notes_.back(), HasSubstr("is older than a.tar"));
  EXPECT_EQ(notes_.size(), 2U);
  list();
  EXPECT_EQ(notes_.size(), 2U) << "the new one is kept";
}

TEST_F(KeptIndex, WhatIsSaidOfItIsALine) {
  const fs::path odd = folder_.path() / "a\nb";
  fs::rename(root(), odd);
  static constexpr std::string_view kJpeg[] = {".jpg", ".jpeg"};
  const auto list_odd = [&] {
    return storage::list_tar_shards(odd, kJpeg, 2, {},
                                    [&](const std::string& note) { notes_.push_back(note); });
  };
  list_odd();
  write(odd / "b.tar", member("x/2.jpg", "two") + member("x/3.jpg", "three") + kEnd);
  list_odd();
  ASSERT_EQ(notes_.size(), 1U);
  EXPECT_THAT(notes_.front(), testing::Not(HasSubstr("\n")));
}

TEST_F(KeptIndex, IsMadeAgainWhereShardsCameOrWent) {
  put_shard("c.tar", member("4.jpg", "four") + kEnd);
  EXPECT_EQ(list().samples.size(), 3U);
  EXPECT_THAT(notes_.back(), HasSubstr("is of other shards"));
  fs::remove(root() / "a.tar");
  EXPECT_EQ(list().samples.size(), 2U);
  fs::rename(root() / "b.tar", root() / "bb.tar");
  EXPECT_EQ(list().packed.front(), "bb.tar");
  EXPECT_EQ(notes_.size(), 3U);
}

TEST_F(KeptIndex, IsMadeAgainWhereItIsDamaged) {
  const fs::path index = indexes().front();
  std::ifstream in(index, std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(in), {});
  for (std::size_t i = 0; i + 1 < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] ^= 1;
    for (const std::string& damaged : {flipped, whole.substr(0, i)}) {
      write(index, damaged);
      notes_.clear();
      expect_same(list());
      ASSERT_EQ(notes_.size(), 1U) << i;
    }
  }
  write(index, whole);
  notes_.clear();
  expect_same(list());
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(KeptIndex, OfOtherKindsIsAnother) {
  put_shard("a.tar", member("1.jpg", "one") + member("1.png", "1") + kEnd);
  put_shard("b.tar", member("2.jpg", "two") + member("2.png", "2") + kEnd);
  list();
  static constexpr std::string_view kPng[] = {".png"};
  const auto pngs = storage::list_tar_shards(root(), kPng, 1);
  EXPECT_THAT(samples(pngs), ElementsAre("0 1.png 0", "1 2.png 0"));
  notes_.clear();
  EXPECT_THAT(samples(list()), ElementsAre("0 1.jpg 0", "1 2.jpg 0"));
  EXPECT_THAT(notes_, IsEmpty());
  EXPECT_EQ(indexes().size(), 2U);
}

TEST_F(KeptIndex, IsDoneWithoutWhereNoneCanBeWritten) {
  write(folder_.path() / "file", "");
  setenv("XDG_CACHE_HOME", (folder_.path() / "file").c_str(), 1);
  expect_same(list());
  setenv("XDG_CACHE_HOME", "not/absolute", 1);
  const char* const home = std::getenv("HOME");
  const std::string before = home ? home : "";
  setenv("HOME", (folder_.path() / "home").c_str(), 1);
  expect_same(list());
  EXPECT_TRUE(fs::exists(folder_.path() / "home/.cache/feedrate/shards"));
  unsetenv("HOME");
  expect_same(list());
  if (home) setenv("HOME", before.c_str(), 1);
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(KeptIndex, ShardsThatChangeAfterTheListingAreRefused) {
  put_shard("b.tar", member("x/2.jpg", "two") + kEnd + "more");
  EXPECT_THAT([&] { storage::make_storage(first_); },
              ThrowsMessage<Error>(HasSubstr(
                  "b.tar: has 2052 bytes, the manifest says 2048; leave the shards alone")));
}

TEST_F(KeptIndex, VerifySaysByWhatCopiesAreCompared) {
  const storage::VerifyResult result = storage::verify_own_folder(list(), 2, {});
  EXPECT_EQ(result.files, 2U);
  EXPECT_EQ(result.bytes, 6U);
  EXPECT_THAT(result.damaged, IsEmpty());
  put_shard("b.tar", member("x/2.jpg", "twO") + kEnd);
  fs::last_write_time(root() / "b.tar", fs::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_NE(storage::verify_own_folder(list(), 2, {}).contents_xxh3, result.contents_xxh3);
}

TEST_F(TarShards, AnyNumberOfThreadsGivesTheSame) {
  for (int i = 0; i < 9; ++i) {
    const std::string n = std::to_string(i);
    put_shard("shard" + n + ".tar", member(n + "/a.jpg", n) + member(n + "/b.jpg", n + n) + kEnd);
  }
  const storage::DatasetVariant one = list(1);
  fs::remove_all(cache());
  const storage::DatasetVariant four = list(4);
  EXPECT_EQ(samples(four), samples(one));
  EXPECT_EQ(four.manifest_xxh3, one.manifest_xxh3);
  EXPECT_EQ(four.classes, 9);
}

TEST_F(TarShards, TellsHowFarItIs) {
  std::string bytes;
  for (int i = 0; i < 2100; ++i) bytes += header(std::to_string(i) + ".jpg", 0);
  put_shard("a.tar", bytes + kEnd);
  std::vector<std::uint64_t> told;
  static constexpr std::string_view kJpeg[] = {".jpg"};
  storage::list_tar_shards(root(), kJpeg, 2, [&](std::uint64_t n) { told.push_back(n); });
  EXPECT_THAT(told, testing::IsSupersetOf({1024U, 2048U}));
}

}  // namespace
}  // namespace feedrate::tests
