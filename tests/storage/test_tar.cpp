#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.h"
#include "base/xxh3.h"
#include "storage/container.h"
#include "storage/manifest.h"
#include "tests/support.h"

namespace feedrate::tests {
namespace {

namespace fs = std::filesystem;

class Tar : public testing::Test {
 protected:
  // Adds a file of `bytes` characters to the variant.
  void add(const std::string& path, std::size_t bytes) {
    const std::string content(bytes, static_cast<char>('a' + files_.samples.size()));
    fs::create_directories((files_.folder / path).parent_path());
    std::ofstream(files_.folder / path, std::ios::binary) << content;
    files_.samples.push_back({path, 0, bytes, xxh3_of(std::as_bytes(std::span(content)))});
    storage::sum_up(files_);
  }
  bool pack() const {
    return storage::find_container("tar")->pack(files_, folder_.path(),
                                                [](std::size_t) { return true; });
  }

  TemporaryFolder folder_;
  storage::DatasetVariant files_{.folder = folder_.path() / "files",
                                 .container = storage::find_container("files")};
};

TEST_F(Tar, IsWhatTarUnpacks) {
  add("class_000/empty", 0);
  add("class_000/block", 512);
  add("class_001/more", 513);
  add("class_001/long", 100'000);
  add(std::string(60, 'd') + "/" + std::string(30, 'e') + "/" + std::string(90, 'f'),
      7);  // a name to split
  add("x/" + std::string(100, 'g'), 1);
  ASSERT_TRUE(pack());
  const fs::path out = folder_.path() / "out";
  fs::create_directories(out);
  ASSERT_EQ(
      std::system(
          ("tar -C " + out.string() + " -xf " + (folder_.path() / "samples.tar").string()).c_str()),
      0);
  for (const storage::SampleFile& sample : files_.samples) {
    std::ifstream a(files_.folder / sample.path, std::ios::binary),
        b(out / sample.path, std::ios::binary);
    ASSERT_TRUE(b.good()) << sample.path;
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(a), {}),
              std::string(std::istreambuf_iterator<char>(b), {}))
        << sample.path;
  }
}

TEST_F(Tar, ANameThatItCannotHoldIsRefused) {
  add("x/" + std::string(101, 'g'), 1);
  EXPECT_THAT([&] { pack(); }, testing::ThrowsMessage<Error>(testing::HasSubstr(
                                   "has a name or a size that a tar file cannot hold")));
  EXPECT_FALSE(fs::exists(folder_.path() / "samples.tar.partial"));
}

}  // namespace
}  // namespace feedrate::tests
