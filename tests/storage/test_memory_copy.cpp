#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/whole_file.h"
#include "storage/image_folder.h"
#include "storage/memory_copy.h"
#include "tests/temporary_cache.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

namespace fs = std::filesystem;

class MemoryCopies : public testing::Test {
 protected:
  MemoryCopies() {
    fs::create_directories(mine_.path() / "class");
    std::ofstream(mine_.path() / "class/a.jpg") << "12";
    static constexpr std::string_view kJpeg[] = {".jpg"};
    dataset_ = storage::list_image_folder(mine_.path(), kJpeg, 1);
  }
  void fill(const storage::MemoryCopy& copy) const {
    storage::copy_part(dataset_, "jpeg/mixed", 1000, copy.data(), {});
  }
  static fs::path new_folder(std::string pattern) { return mkdtemp(pattern.data()); }

  TemporaryCache cache_;
  TemporaryFolder mine_;
  storage::DatasetVariant dataset_;
};

TEST_F(MemoryCopies, AreRemovedInTheEnd) {
  fs::path data;
  {
    const storage::MemoryCopy made;
    data = made.data();
    EXPECT_ANY_THROW(made.samples()) << "it is empty";
    fill(made);
    EXPECT_EQ(made.samples(), 1u);
    EXPECT_TRUE(fs::exists(data / "dataset.json"));
  }
  EXPECT_FALSE(fs::exists(data));
}

TEST_F(MemoryCopies, OfFilesWhoseContentsDecideSaySo) {
  const storage::MemoryCopy of_gens;
  fill(of_gens);
  EXPECT_FALSE(storage::open_dataset(of_gens.data(), "jpeg/mixed").contents_decide());
  dataset_.made[storage::kFormats] = "jpeg 1";
  const storage::MemoryCopy of_own;
  fill(of_own);
  EXPECT_TRUE(storage::open_dataset(of_own.data(), "jpeg/mixed").contents_decide());
}

TEST_F(MemoryCopies, ThatNobodyHoldsAreRemoved) {
  const fs::path left = new_folder("/dev/shm/feedrate-locked-XXXXXX");
  const storage::MemoryCopy made;
  EXPECT_FALSE(fs::exists(left));
}

TEST_F(MemoryCopies, OfVersionsThatLockNothingAreLeftAlone) {
  const fs::path theirs = new_folder("/dev/shm/feedrate-copy-1-XXXXXX");
  EXPECT_NE(storage::MemoryCopy().data().filename().string().find("feedrate-locked-"),
            std::string::npos);
  EXPECT_TRUE(fs::exists(theirs));
  fs::remove_all(theirs);
}

TEST_F(MemoryCopies, ThatAreHeldAreKept) {
  const fs::path made = new_folder("/dev/shm/feedrate-new-XXXXXX");
  const PosixFile lock(made, O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(flock(lock.get(), LOCK_EX | LOCK_NB), 0);
  const fs::path held = "/dev/shm/feedrate-locked-" + made.filename().string().substr(13);
  fs::rename(made, held);
  {
    const storage::MemoryCopy mine;
    fill(mine);
    const storage::MemoryCopy another;
    EXPECT_TRUE(fs::exists(mine.data() / "dataset.json"));
  }
  EXPECT_TRUE(fs::exists(held));
  fs::remove_all(held);
}

}  // namespace
}  // namespace feedrate::tests
