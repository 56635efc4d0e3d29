// What a folder of the user's own is read as.
#include "storage/own_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "storage/image_folder.h"
#include "storage/listing.h"
#include "tests/temporary_cache.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOwnKinds[] = {".jpg", ".png"};

class OwnFolders : public testing::Test {
 protected:
  void put(const std::string& path) const {
    fs::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << "x";
  }
  storage::OwnFolder look() const { return storage::look_at_own_folder(folder_.path(), kOwnKinds); }

  TemporaryCache cache_;
  TemporaryFolder folder_;
};

TEST_F(OwnFolders, AreWhatMostOfItIs) {
  EXPECT_TRUE(look().is_empty());
  for (const char* name : {"notes.txt", ".hidden.jpg", "._a.tar", "a.webp"}) put(name);
  EXPECT_TRUE(look().is_empty());
  put("a.tar");
  EXPECT_TRUE(look().are_shards());
  put("1.JPG");
  EXPECT_FALSE(look().are_shards()) << "as many pictures as shards";
  EXPECT_EQ(look().pictures, 1U);
  EXPECT_EQ(look().shards, 1U);
  put("b.tar");
  EXPECT_TRUE(look().are_shards());
  put("2.png"), put("3.jpg");
  EXPECT_FALSE(look().are_shards());
}

TEST_F(OwnFolders, ClassFoldersThatHoldPicturesGoBeforeShards) {
  for (const char* name : {"a.tar", "b.tar", "class/notes.txt", "class/c.tar"}) put(name);
  EXPECT_TRUE(look().are_shards());
  EXPECT_FALSE(look().has_classes);
  put("class/deep/er/1.jpg");
  EXPECT_FALSE(look().are_shards());
  EXPECT_TRUE(look().has_classes);
}

TEST_F(OwnFolders, AFolderNamedAsAShardIsNone) {
  put("x.tar/1.jpg");
  EXPECT_EQ(look().shards, 0U);
  EXPECT_FALSE(look().are_shards());
}

TEST_F(OwnFolders, ThatIsNotThereIsEmpty) {
  EXPECT_TRUE(storage::look_at_own_folder(folder_.path() / "none", kOwnKinds).is_empty());
}

TEST_F(OwnFolders, TarFilesBesidePicturesAreCountedAsSuch) {
  for (const char* name : {"1.jpg", "2.jpg", "a.tar", "solution.csv"}) put(name);
  const auto listed = storage::list_image_folder(folder_.path(), kOwnKinds, 1);
  EXPECT_EQ(listed.samples.size(), 2U);
  EXPECT_EQ(listed.made.at(storage::kLeftOut), "2 (1 other, 1 tar)");
}

}  // namespace
}  // namespace feedrate::tests
