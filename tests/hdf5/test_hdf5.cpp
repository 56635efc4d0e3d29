#include "hdf5/hdf5.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "hdf5/hdf5_file.h"
#include "measure/error.h"
#include "pipeline/loader.h"
#include "storage/container.h"
#include "tests/support.h"

namespace feedrate {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr PixelSize kSize{40, 30};

class Hdf5 : public testing::Test {
 protected:
  Hdf5() { generate({"files", "hdf5"}); }

  void generate(std::vector<std::string> containers) {
    generate_dataset({.data = folder_.path(), .formats = {"jpeg", "tensor"}, .containers = std::move(containers), .image_sizes = {kSize},
                      .input_sizes = {kSize}, .count = 32, .classes = 4, .threads = 2}, {}, {});
  }
  DatasetVariant open(const std::string& variant) const { return open_dataset(folder_.path(), variant); }
  fs::path packed(const std::string& variant = "jpeg.hdf5/40x30") const { return folder_.path() / variant / "samples.h5"; }
  static std::string text_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put(const std::string& bytes) const { std::ofstream(packed(), std::ios::binary) << bytes; }

  TemporaryFolder folder_;
};

TEST_F(Hdf5, HoldsTheBytesOfTheFiles) {
  for (const char* variant : {"jpeg", "tensor-uint8"}) {
    const DatasetVariant files = open(std::string(variant) + "/40x30"), hdf5 = open(std::string(variant) + ".hdf5/40x30");
    EXPECT_EQ(hdf5.manifest_xxh3, files.manifest_xxh3);
    const auto a = make_storage(files), b = make_storage(hdf5);
    Buffer from_file, from_hdf5;
    for (std::size_t i = 0; i < files.samples.size(); ++i) {
      a->read(files.samples[i], from_file);
      std::vector<std::byte> tail(17);
      b->read(hdf5.samples[i], from_hdf5, tail);
      const auto expected = from_file.bytes(), head = from_hdf5.bytes();
      ASSERT_EQ(head.size() + tail.size(), expected.size());
      EXPECT_TRUE(std::equal(head.begin(), head.end(), expected.begin()));
      EXPECT_TRUE(std::equal(tail.begin(), tail.end(), expected.end() - 17));
    }
  }
}

TEST_F(Hdf5, LoadersMakeTheSameBatchesAndCountTheWaiting) {
  const auto batches = [&](const std::string& variant) {
    const DatasetVariant dataset = open(variant);
    const auto loader = make_loader("pool", {{.dataset = &dataset, .spec = {8, kSize, Dtype::uint8}}, {32, 1, 0, 1}, 3, 2, host_slabs(), true});
    std::string all;
    for (int i = 0; i < 8; ++i) all.append(reinterpret_cast<const char*>(loader->next()->pixels), BatchSpec{8, kSize, Dtype::uint8}.bytes());
    const StageTotals stages = loader->stages();
    EXPECT_EQ(stages[Stage::lock].items > 0, variant.find("hdf5") != std::string::npos);
    return all;
  };
  EXPECT_EQ(batches("tensor-uint8.hdf5/40x30"), batches("tensor-uint8/40x30"));
}

TEST_F(Hdf5, WhoeverWaitsForTheLibraryIsToldHowLong) {
  const DatasetVariant dataset = open("jpeg.hdf5/40x30");
  const auto storage = hdf5::open_samples(dataset);
  Buffer buffer;
  std::unique_lock lock(hdf5::library_lock());
  std::int64_t waited = 0;
  std::jthread reader([&] { waited = storage->read(dataset.samples[0], buffer); });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  lock.unlock();
  reader.join();
  EXPECT_GT(waited, 5'000'000);
}

TEST_F(Hdf5, ADamagedFileIsRefusedNamingIt) {
  const DatasetVariant dataset = open("jpeg.hdf5/40x30");
  const std::string whole = text_of(packed());
  const auto opening = [&] { hdf5::open_samples(dataset); };
  for (const std::string& bytes : {std::string(), std::string("no HDF5 file at all"), whole.substr(0, whole.size() / 2)}) {
    put(bytes);
    EXPECT_THAT(opening, ThrowsMessage<Error>(HasSubstr("samples.h5: cannot be opened"))) << bytes.size();
  }
  fs::remove(packed());
  EXPECT_THAT(opening, ThrowsMessage<Error>(HasSubstr("samples.h5: cannot be opened")));
}

TEST_F(Hdf5, AFileOfOtherSamplesIsRefused) {
  fs::copy_file(packed("tensor-uint8.hdf5/40x30"), packed(), fs::copy_options::overwrite_existing);
  const DatasetVariant dataset = open("jpeg.hdf5/40x30");
  EXPECT_THAT([&] { hdf5::open_samples(dataset); }, ThrowsMessage<Error>(HasSubstr("bytes of samples, the manifest says")));
}

TEST_F(Hdf5, VerifyFindsADamagedSampleInIt) {
  std::string bytes = text_of(packed());
  const DatasetVariant files = open("jpeg/40x30");
  const std::string sample = text_of(files.folder / files.samples[3].path);
  bytes[bytes.find(sample) + sample.size() / 2] ^= 1;
  put(bytes);
  const VerifyResult result = verify_dataset(folder_.path(), 2, {});
  EXPECT_EQ(result.files, 4 * 32U);
  EXPECT_THAT(result.damaged, testing::ElementsAre(HasSubstr("jpeg.hdf5/40x30/" + files.samples[3].path + ": checksum")));
  put("nothing");
  EXPECT_THAT(verify_dataset(folder_.path(), 2, {}).damaged, testing::ElementsAre(HasSubstr("jpeg.hdf5/40x30/samples.h5: ")));
}

TEST_F(Hdf5, IsPackedAgainOnlyWhereItIsMissing) {
  const auto before = fs::last_write_time(packed());
  generate({"hdf5"});
  EXPECT_EQ(fs::last_write_time(packed()), before);
  const std::string bytes = text_of(packed());
  fs::remove(packed());
  generate({"hdf5"});
  EXPECT_EQ(text_of(packed()), bytes);  // the same samples, the same file
}

TEST_F(Hdf5, PackingADamagedSampleIsRefusedAndLeavesNothing) {
  const DatasetVariant files = open("jpeg/40x30");
  const fs::path victim = files.folder / files.samples[5].path;
  const auto size = fs::file_size(victim);
  std::ofstream(victim, std::ios::binary) << std::string(size, 'x');
  const fs::path to = folder_.path() / "new.h5";
  EXPECT_THAT([&] { hdf5::pack_samples(files, to, [](std::size_t) { return true; }); },
              ThrowsMessage<Error>(HasSubstr(files.samples[5].path + ": is damaged")));
  EXPECT_FALSE(fs::exists(to));
  EXPECT_FALSE(fs::exists(to.string() + ".partial"));
}

TEST_F(Hdf5, PackingThatIsStoppedLeavesWhatWasThere) {
  const std::string before = text_of(packed());
  EXPECT_FALSE(hdf5::pack_samples(open("jpeg/40x30"), packed(), [](std::size_t done) { return done < 9; }));
  EXPECT_EQ(text_of(packed()), before);
  EXPECT_FALSE(fs::exists(packed().string() + ".partial"));
}

TEST_F(Hdf5, AnUnknownContainerIsRefused) {
  EXPECT_THROW(generate({"zip"}), UsageError);
  EXPECT_THROW(container_of("jpeg.zip/40x30"), Error);
}

}  // namespace
}  // namespace feedrate
