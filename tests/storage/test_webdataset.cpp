// Samples in several packed files: where they lie, and the shards of the container webdataset.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "base/error.h"
#include "base/xxh3.h"
#include "storage/container.h"
#include "storage/outstanding_reads.h"
#include "storage/packed_files.h"
#include "storage/page_cache.h"
#include "storage/webdataset_container.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Placing, FillsFilesUpToTheMostThatTheyTake) {
  storage::Placing placing({.header = 10, .block = 8, .end = 4, .most = 100});
  std::vector<std::pair<std::uint32_t, std::uint64_t>> places;
  for (const std::uint64_t bytes : {30, 30, 0, 1, 200, 1}) {
    const auto place = placing.next(bytes);
    places.emplace_back(place.shard, place.offset);
  }
  using Place = std::pair<std::uint32_t, std::uint64_t>;
  // 40 and 40 bytes, then 16: with the end exactly 100.
  EXPECT_THAT(places, ElementsAre(Place{0, 10}, Place{0, 50}, Place{0, 90}, Place{1, 10},
                                  Place{2, 10}, Place{3, 10}));
  EXPECT_THAT(placing.lengths(), ElementsAre(100, 20, 220, 20));
}

TEST(Placing, PutsAllIntoOneFileWhereNothingBoundsIt) {
  storage::Placing placing({});
  EXPECT_THAT(placing.lengths(), ElementsAre(0));
  for (const std::uint64_t bytes : {3, 0, 5}) placing.next(bytes);
  EXPECT_THAT(placing.lengths(), ElementsAre(8));
  EXPECT_EQ(placing.next(1).offset, 8U);
}

// The container with shards that are as small as the test's samples.
class WebDataset : public testing::Test {
 protected:
  WebDataset() {
    small_.layout.most = 8192;
    fs::create_directories(shards_);
  }

  // Adds a file of `bytes` characters.
  void add(const std::string& path, std::int32_t label, std::size_t bytes) {
    const std::string content(bytes, static_cast<char>('a' + files_.samples.size()));
    fs::create_directories((files_.folder / path).parent_path());
    std::ofstream(files_.folder / path, std::ios::binary) << content;
    files_.samples.push_back({path, label, bytes, xxh3_of(std::as_bytes(std::span(content)))});
    storage::sum_up(files_);
  }
  void add_some() {
    const std::size_t sizes[] = {0, 1, 512, 513, 4000, 9000, 100, 3000};
    for (std::size_t i = 0; i < std::size(sizes); ++i)
      add("class_00" + std::to_string(i % 3) + "/00000" + std::to_string(i) + ".jpg",
          static_cast<std::int32_t>(i % 3), sizes[i]);
  }
  bool pack(const storage::PackProgress& progress = [](std::size_t) { return true; }) const {
    return storage::pack_samples(small_, storage::write_shard_header, files_, shards_, progress);
  }
  storage::DatasetVariant open() const {
    storage::DatasetVariant variant = files_;
    variant.folder = shards_;
    variant.container = &small_;
    storage::place_samples(variant);
    return variant;
  }
  std::string content(const storage::SampleFile& sample) const {
    std::ifstream in(files_.folder / sample.path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(shards_))
      names.insert(entry.path().filename().string());
    return names;
  }

  TemporaryFolder folder_;
  const fs::path shards_ = folder_.path() / "shards";
  storage::Container small_ = *storage::find_container("webdataset");
  storage::DatasetVariant files_{.folder = folder_.path() / "files",
                                 .container = storage::find_container("files")};
};

TEST_F(WebDataset, EveryEngineReadsEverySampleFromItsShard) {
  add_some();
  ASSERT_TRUE(pack());
  const storage::DatasetVariant variant = open();
  EXPECT_EQ(variant.samples.back().shard, 4U);
  EXPECT_THAT(names(), testing::ElementsAreArray(variant.packed));
  EXPECT_THAT(variant.packed,
              ElementsAre("shard-000000.tar", "shard-000001.tar", "shard-000002.tar",
                          "shard-000003.tar", "shard-000004.tar"));
  for (const storage::IoEngine& engine : storage::io_engines()) {
    try {
      if (engine.check) engine.check();
    } catch (const Error&) {
      continue;
    }
    const auto storage = storage::make_storage(variant, {&engine, 1});
    for (const storage::SampleFile& sample : variant.samples) {
      const auto bytes = storage->read(sample).bytes;
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
                content(sample))
          << engine.name << " " << sample.path;
    }
  }
}

TEST_F(WebDataset, IsWhatTarUnpacks) {
  add_some();
  ASSERT_TRUE(pack());
  const fs::path out = folder_.path() / "out";
  fs::create_directories(out);
  for (const std::string& name : open().packed) {
    const std::string unpack = "tar -C " + out.string() + " -xf " + (shards_ / name).string();
    ASSERT_EQ(std::system(unpack.c_str()), 0);
  }
  for (const storage::SampleFile& sample : files_.samples) {
    std::ifstream picture(out / sample.path, std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(picture), {}), content(sample));
    std::ifstream label((out / sample.path).replace_extension(".cls"));
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(label), {}), std::to_string(sample.label));
  }
}

TEST_F(WebDataset, ItsLengthsFollowFromTheManifest) {
  add_some();
  ASSERT_TRUE(pack());
  const storage::DatasetVariant variant = open();
  for (std::size_t i = 0; i < variant.packed.size(); ++i) {
    EXPECT_EQ(fs::file_size(shards_ / variant.packed[i]), variant.packed_bytes[i]);
    EXPECT_EQ(storage::first_sample_in(variant, i).shard, i);
  }
  const fs::path victim = shards_ / "shard-000002.tar";
  fs::resize_file(victim, fs::file_size(victim) - 1);
  EXPECT_THAT([&] { storage::make_storage(variant); },
              ThrowsMessage<Error>(HasSubstr("shard-000002.tar: has ")));
  fs::remove(victim);
  EXPECT_THAT([&] { storage::make_storage(variant); },
              ThrowsMessage<Error>(HasSubstr("shard-000002.tar: No such file")));
}

TEST_F(WebDataset, ErrorsNameTheShard) {
  add_some();
  ASSERT_TRUE(pack());
  const storage::DatasetVariant variant = open();
  const std::string name = storage::name_sample(variant, variant.samples[5]);
  EXPECT_EQ(name, (shards_ / variant.packed[variant.samples[5].shard]).string() + ": " +
                      variant.samples[5].path);
  storage::OutstandingReads reads(variant);
  reads.add().begin(variant.samples[5]);
  EXPECT_EQ(reads.oldest()->path, name);
  EXPECT_EQ(reads.oldest()->offset, variant.samples[5].offset);
  const auto storage = storage::make_storage(variant);
  storage::SampleFile beyond = variant.samples[7];
  beyond.bytes = 100'000;
  EXPECT_THAT(
      [&] { storage->read(beyond); },
      ThrowsMessage<Error>(HasSubstr("shard-000004.tar: class_001/000007.jpg: is cut off")));
}

TEST_F(WebDataset, PageCacheIsAskedOfEveryShard) {
  add_some();
  ASSERT_TRUE(pack());
  const storage::DatasetVariant variant = open();
  EXPECT_EQ(storage::stored_files(variant), variant.packed.size());
  storage::drop_from_page_cache(variant);
  storage::warm_page_cache(variant);
  EXPECT_THAT(storage::page_cache_residency(variant, 256).share,
              testing::AnyOf(-1, testing::Gt(0.9)));
  fs::remove(shards_ / "shard-000001.tar");
  EXPECT_THAT([&] { storage::drop_from_page_cache(variant); },
              ThrowsMessage<Error>(HasSubstr("shard-000001.tar: ")));
}

TEST_F(WebDataset, PackingThatIsStoppedLeavesNothing) {
  add_some();
  EXPECT_FALSE(pack([](std::size_t done) { return done < 6; }));
  EXPECT_THAT(names(), testing::IsEmpty());
  ASSERT_TRUE(pack());
  const std::set<std::string> whole = names();
  EXPECT_FALSE(pack([](std::size_t done) { return done < 6; }));
  EXPECT_EQ(names(), whole);
}

TEST_F(WebDataset, ANameWithSeveralDotsIsRefused) {
  for (const char* path : {"class_000/a.b.jpg", "class_000/.jpg", "class_000/none"}) {
    files_.samples.clear();
    add(path, 0, 1);
    EXPECT_THAT([&] { pack(); },
                ThrowsMessage<Error>(HasSubstr(std::string(path) + ": needs one dot in its name")));
    EXPECT_THAT(names(), testing::IsEmpty());
  }
  files_.samples.clear();
  add("class.000/a.jpg", 0, 1);
  EXPECT_TRUE(pack()) << "a folder may have one";
}

}  // namespace
}  // namespace feedrate::tests
