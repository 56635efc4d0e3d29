// What every container promises; what is particular to one has a file of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "storage/container.h"
#include "storage/verify.h"
#include "tests/support.h"

namespace feedrate::tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr codec::PixelSize kSize{40, 30};

class Containers : public testing::TestWithParam<const char*> {
 protected:
  Containers() { generate({"files", GetParam()}); }

  void generate(std::vector<std::string> containers) {
    data_gen::generate_dataset({.data = folder_.path(),
                                .formats = {"jpeg", "tensor"},
                                .containers = std::move(containers),
                                .image_sizes = {kSize},
                                .input_sizes = {kSize},
                                .count = 32,
                                .classes = 4,
                                .threads = 2},
                               {}, {});
  }
  storage::DatasetVariant open(const std::string& format, bool packed) const {
    return storage::open_dataset(
        folder_.path(), storage::in_container(format + "/40x30", packed ? GetParam() : "files"));
  }
  const storage::Container& container() const { return *storage::find_container(GetParam()); }
  fs::path packed() const {
    return folder_.path() / storage::in_container("jpeg/40x30", GetParam()) / container().packed;
  }
  static std::string text_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put(const std::string& bytes) const { std::ofstream(packed(), std::ios::binary) << bytes; }

  TemporaryFolder folder_;
};

TEST_P(Containers, HoldsTheBytesOfTheFiles) {
  for (const char* format : {"jpeg", "tensor-uint8"}) {
    const storage::DatasetVariant files = open(format, false), packed = open(format, true);
    EXPECT_EQ(packed.manifest_xxh3, files.manifest_xxh3);
    const auto a = storage::make_storage(files), b = storage::make_storage(packed);
    for (std::size_t i = 0; i < files.samples.size(); ++i) {
      std::vector<std::byte> tail(17);
      const auto expected = a->read(files.samples[i]).bytes;
      const auto head = b->read(packed.samples[i], tail).bytes;
      ASSERT_EQ(head.size() + tail.size(), expected.size());
      EXPECT_TRUE(std::equal(head.begin(), head.end(), expected.begin()));
      EXPECT_TRUE(std::equal(tail.begin(), tail.end(), expected.end() - 17));
    }
  }
}

TEST_P(Containers, VerifyFindsADamagedSampleInIt) {
  EXPECT_THAT(storage::verify_dataset(folder_.path(), 2, {}).damaged, testing::IsEmpty());
  std::string bytes = text_of(packed());
  const storage::DatasetVariant files = open("jpeg", false);
  const std::string sample = text_of(files.folder / files.samples[3].path);
  bytes[bytes.find(sample) + sample.size() / 2] ^= 1;
  put(bytes);
  const std::string variant = storage::in_container("jpeg/40x30", GetParam());
  const storage::VerifyResult result = storage::verify_dataset(folder_.path(), 2, {});
  EXPECT_EQ(result.files, 4 * 32U);
  EXPECT_THAT(result.damaged, testing::ElementsAre(
                                  HasSubstr(variant + "/" + files.samples[3].path + ": checksum")));
  for (const std::string& wrong :
       {std::string(), std::string("nothing"), bytes.substr(0, bytes.size() - 1)}) {
    put(wrong);
    EXPECT_THAT(
        storage::verify_dataset(folder_.path(), 2, {}).damaged,
        testing::ElementsAre(HasSubstr(variant + "/" + std::string(container().packed) + ": ")))
        << wrong.size();
  }
}

TEST_P(Containers, ADamagedFileIsRefusedNamingIt) {
  const storage::DatasetVariant dataset = open("jpeg", true);
  const std::string whole = text_of(packed());
  const auto opening = [&] { storage::make_storage(dataset); };
  const std::string again = " and pack it again: feedrate gen " + folder_.path().string() +
                            " --container " + GetParam() +
                            " --format jpeg --image-size 40x30 --count 32 --classes 4";
  for (const std::string& bytes :
       {std::string(), std::string("something else"), whole.substr(0, whole.size() / 2),
        whole.substr(0, whole.size() - 1)}) {
    put(bytes);
    EXPECT_THAT(opening, ThrowsMessage<Error>(HasSubstr(packed().string() + ": "))) << bytes.size();
    EXPECT_THAT(opening, ThrowsMessage<Error>(testing::EndsWith(again))) << bytes.size();
  }
  fs::remove(packed());
  EXPECT_THAT(opening, ThrowsMessage<Error>(HasSubstr(packed().string() + ": ")));
}

TEST_P(Containers, IsPackedAgainOnlyWhereItIsMissing) {
  const auto before = fs::last_write_time(packed());
  generate({GetParam()});
  EXPECT_EQ(fs::last_write_time(packed()), before);
  const std::string bytes = text_of(packed());
  fs::remove(packed());
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // a time stamp in it would differ
  generate({GetParam()});
  EXPECT_TRUE(text_of(packed()) == bytes);  // the same samples, the same file
  put(bytes.substr(0, bytes.size() / 2));
  generate({GetParam()});
  EXPECT_TRUE(text_of(packed()) == bytes);
}

TEST_P(Containers, PackingADamagedSampleIsRefusedAndLeavesNothing) {
  const storage::DatasetVariant files = open("jpeg", false);
  const fs::path victim = files.folder / files.samples[5].path;
  const auto size = fs::file_size(victim);
  std::ofstream(victim, std::ios::binary) << std::string(size, 'x');
  const fs::path to = folder_.path() / "new";
  fs::create_directories(to);
  EXPECT_THAT([&] { container().pack(files, to, [](std::size_t) { return true; }); },
              ThrowsMessage<Error>(HasSubstr(files.samples[5].path + ": is damaged")));
  EXPECT_TRUE(fs::is_empty(to));
}

TEST_P(Containers, PackingThatIsStoppedLeavesWhatWasThere) {
  const std::string before = text_of(packed());
  EXPECT_FALSE(container().pack(open("jpeg", false), packed().parent_path(),
                                [](std::size_t done) { return done < 9; }));
  EXPECT_TRUE(text_of(packed()) == before);
  EXPECT_FALSE(fs::exists(packed().string() + ".partial"));
}

TEST_P(Containers, AnInterruptedGenerationIsFinishedByTheNext) {
  const std::string whole = text_of(packed());
  fs::remove_all(packed().parent_path());
  int asked = 0;
  EXPECT_THROW(data_gen::generate_dataset({.data = folder_.path(),
                                           .formats = {"jpeg"},
                                           .containers = {GetParam()},
                                           .image_sizes = {kSize},
                                           .count = 32,
                                           .classes = 4},
                                          {}, [&] { return ++asked > 5; }),
               Error);
  EXPECT_THROW(open("jpeg", true), Error);
  generate({GetParam()});
  EXPECT_TRUE(text_of(packed()) == whole);
  EXPECT_EQ(open("jpeg", true).samples.size(), 32U);
}

#ifdef FEEDRATE_TEST_HDF5
constexpr const char* kPacked[] = {"tar", "webdataset", "packed", "hdf5"};
#else
constexpr const char* kPacked[] = {"tar", "webdataset", "packed"};
#endif
INSTANTIATE_TEST_SUITE_P(Every, Containers, testing::ValuesIn(kPacked),
                         [](const auto& one) { return std::string(one.param); });

TEST(ContainerNames, AnUnknownOneIsRefused) {
  const TemporaryFolder folder;
  EXPECT_THROW(data_gen::generate_dataset({.data = folder.path(),
                                           .formats = {"jpeg"},
                                           .containers = {"zip"},
                                           .image_sizes = {kSize},
                                           .count = 1},
                                          {}, {}),
               UsageError);
  EXPECT_THROW(storage::container_of("jpeg.zip/40x30"), Error);
  EXPECT_EQ(storage::container_of("jpeg/40x30").name, "files");
  EXPECT_EQ(storage::container_of("tensor-uint8.tar/40x30").name, "tar");
  EXPECT_EQ(storage::container_of("jpeg.webdataset/40x30").name, "webdataset");
}

}  // namespace
}  // namespace feedrate::tests
