#include "cli/stored_size.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

using cli::StoredSize;

// As `gen` makes one, as far as its sizes tell.
void make_size(const std::filesystem::path& dataset, const std::string& size) {
  std::filesystem::create_directories(dataset / "jpeg" / size);
  std::ofstream(dataset / "dataset.json") << "{}";
  std::ofstream(dataset / "jpeg" / size / "files.tsv") << "";
}

cli::StoredSizeLook look_at(const std::filesystem::path& dataset) {
  return cli::look_for_stored_size(dataset, {"jpeg"}, std::chrono::seconds(60));
}

TEST(StoredSize, IsTheOnlyOneThatThereIs) {
  const TemporaryFolder folder;
  make_size(folder.path(), "500x375");
  const cli::StoredSizeLook one = look_at(folder.path());
  EXPECT_TRUE(one.is_answered);
  EXPECT_EQ(one.only, (StoredSize{.size = "500x375", .detail = "", .made = true}));
  make_size(folder.path(), "224x224");
  const cli::StoredSizeLook several = look_at(folder.path());
  EXPECT_TRUE(several.is_answered);
  EXPECT_FALSE(several.only);
  EXPECT_FALSE(several.is_nothing_of_gens);
}

TEST(StoredSize, OfAFolderOfOnesOwnIsMixed) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "cats");
  EXPECT_EQ(look_at(folder.path()).only,
            (StoredSize{.size = "mixed", .detail = "", .made = false}));
}

TEST(StoredSize, OfPicturesWithoutClassFoldersIsMixedToo) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / ".git");
  std::ofstream(folder.path() / "notes.txt") << "";
  EXPECT_FALSE(look_at(folder.path()).only);
  EXPECT_TRUE(look_at(folder.path()).is_nothing_of_gens);
  std::ofstream(folder.path() / "a.JPG") << "";
  EXPECT_EQ(look_at(folder.path()).only,
            (StoredSize{.size = "mixed", .detail = "", .made = false}));
}

TEST(StoredSize, OfShardsOfOnesOwnIsWhereTheyWillDo) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "1.tar") << "";
  EXPECT_FALSE(look_at(folder.path()).only) << "class folders are asked for";
  const auto look_for_either = [&] {
    return cli::look_for_stored_size(folder.path(), {"auto", "auto.webdataset"},
                                     std::chrono::seconds(60))
        .only;
  };
  EXPECT_EQ(look_for_either(),
            (StoredSize{.size = "mixed", .detail = "", .made = false, .is_shards = true}));
  std::filesystem::create_directories(folder.path() / "cats");
  EXPECT_TRUE(look_for_either()->is_shards) << "no class folder holds a picture";
  std::ofstream(folder.path() / "cats" / "a.jpg") << "";
  EXPECT_EQ(look_for_either(),
            (StoredSize{.size = "mixed", .detail = "", .made = false, .is_shards = false}));
}

TEST(StoredSize, OfPicturesBesideTheTarThatTheyCameFromIsTheirs) {
  const TemporaryFolder folder;
  const auto look_for = [&](const std::set<std::string>& kinds) {
    return cli::look_for_stored_size(folder.path(), kinds, std::chrono::seconds(60)).only;
  };
  const std::set<std::string> either = {"auto", "auto.webdataset"};
  for (const char* name : {"1.tar", "a.jpg"}) std::ofstream(folder.path() / name) << "";
  ASSERT_TRUE(look_for(either));
  EXPECT_FALSE(look_for(either)->is_shards);
  EXPECT_TRUE(look_for({"auto"}));
  std::ofstream(folder.path() / "2.tar") << "";
  ASSERT_TRUE(look_for(either));
  EXPECT_TRUE(look_for(either)->is_shards);
  EXPECT_FALSE(look_for({"auto"})) << "the fewer are not what the folder is";
}

TEST(StoredSize, OfShardsBesideArraysIsTheirs) {
  const TemporaryFolder folder;
  for (const char* name : {"1.tar", "labels.npy"}) std::ofstream(folder.path() / name) << "";
  const auto look_for = [&](const std::set<std::string>& kinds) {
    return cli::look_for_stored_size(folder.path(), kinds, std::chrono::seconds(60)).only;
  };
  ASSERT_TRUE(look_for({"auto", "auto.webdataset"}));
  EXPECT_TRUE(look_for({"auto", "auto.webdataset"})->is_shards);
  EXPECT_TRUE(look_for({"npy"})) << "arrays are asked for";
}

TEST(StoredSize, OfNoFolderIsNone) {
  const TemporaryFolder folder;
  const cli::StoredSizeLook none = look_at(folder.path() / "missing");
  EXPECT_TRUE(none.is_answered);
  EXPECT_FALSE(none.only);
  EXPECT_TRUE(none.is_nothing_of_gens);
}

}  // namespace
}  // namespace feedrate::tests
