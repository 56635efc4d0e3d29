#include "hdf5/hdf5_pack.h"
#include "hdf5/hdf5_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "hdf5/hdf5_file.h"
#include "pipeline/loader.h"
#include "storage/container.h"
#include "tests/message_of.h"
#include "tests/support.h"

namespace feedrate::tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr codec::PixelSize kSize{40, 30};

class Hdf5 : public testing::Test {
 protected:
  Hdf5() {
    data_gen::generate_dataset({.data = folder_.path(),
                                .formats = {"jpeg", "tensor"},
                                .containers = {"hdf5"},
                                .image_sizes = {kSize},
                                .input_sizes = {kSize},
                                .count = 32,
                                .classes = 4,
                                .threads = 2},
                               {}, {});
  }
  storage::DatasetVariant open(const std::string& variant) const {
    return storage::open_dataset(folder_.path(), variant);
  }
  fs::path packed(const std::string& variant = "jpeg.hdf5/40x30") const {
    return folder_.path() / variant / "samples.h5";
  }

  TemporaryFolder folder_;
};

TEST_F(Hdf5, LoadersMakeTheSameBatchesAndCountTheWaiting) {
  const auto batches = [&](const std::string& variant) {
    const storage::DatasetVariant dataset = open(variant);
    const auto loader = pipeline::make_loader(
        "pool", {{.dataset = &dataset, .spec = {8, kSize, codec::Dtype::uint8}},
                 {32, 1, 0, 1},
                 3,
                 2,
                 pipeline::host_slabs(),
                 true});
    std::string all;
    for (int i = 0; i < 8; ++i)
      all.append(reinterpret_cast<const char*>(loader->next()->pixels),
                 pipeline::BatchSpec{8, kSize, codec::Dtype::uint8}.bytes());
    const measure::StageTotals stages = loader->stages();
    EXPECT_EQ(stages[measure::Stage::lock].items > 0, variant.find("hdf5") != std::string::npos);
    return all;
  };
  EXPECT_EQ(batches("tensor-uint8.hdf5/40x30"), batches("tensor-uint8/40x30"));
}

TEST_F(Hdf5, WhoeverWaitsForTheLibraryIsToldHowLong) {
  const storage::DatasetVariant dataset = open("jpeg.hdf5/40x30");
  const auto storage = hdf5::open_samples(dataset, {});
  storage::Buffer buffer;
  std::unique_lock lock(hdf5::library_lock());
  std::int64_t waited = 0;
  std::jthread reader([&] { waited = storage->read(dataset.samples[0], buffer).lock_ns; });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  lock.unlock();
  reader.join();
  EXPECT_GT(waited, 5'000'000);
}

TEST_F(Hdf5, WrongOffsetsAreRefused) {
  // As h5py would change them: they are the last dataset of the file's names, and its values stand
  // in order.
  const storage::DatasetVariant dataset = open("jpeg.hdf5/40x30");
  std::ifstream in(packed(), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  const std::uint64_t second = dataset.samples[1].offset, third = dataset.samples[2].offset;
  std::string values(16, '\0');
  std::memcpy(values.data(), &second, 8), std::memcpy(values.data() + 8, &third, 8);
  const std::size_t at = bytes.find(values);
  ASSERT_NE(at, std::string::npos);
  bytes[at] ^= 1;
  std::ofstream(packed(), std::ios::binary) << bytes;
  EXPECT_THAT([&] { hdf5::open_samples(dataset, {}); },
              ThrowsMessage<Error>(HasSubstr("not those of the manifest")));
}

TEST_F(Hdf5, WhatCannotBeWrittenIsAdvisedByTheReason) {
  const fs::path file = folder_.path() / "file";
  std::ofstream(file) << "text";
  const auto pack_to = [&](const fs::path& folder) {
    return message_of(
        [&] { hdf5::pack_samples(open("jpeg/40x30"), folder, [](std::size_t) { return true; }); });
  };
  EXPECT_THAT(pack_to(file),
              testing::EndsWith("cannot be made: Not a directory; take the file out of its path, "
                                "and run the same command again"));
}

// The folder and the options are those of the dataset.
TEST_F(Hdf5, WhatIsMissingIsAdvisedByTheCommandThatPacksIt) {
  const storage::DatasetVariant dataset = open("jpeg.hdf5/40x30");
  const std::string command = "feedrate gen " + folder_.path().string() +
                              " --container hdf5 --format jpeg --image-size 40x30 --count 32 "
                              "--classes 4";
  const auto opening = [&] { hdf5::open_samples(dataset, {}); };
  std::ofstream(packed(), std::ios::binary) << "text";
  EXPECT_THAT(message_of(opening), testing::EndsWith("pack it again: " + command));
  fs::remove(packed());
  EXPECT_THAT(message_of(opening), testing::EndsWith("no such file; make it: " + command));
}

TEST_F(Hdf5, AFileOfOtherSamplesIsRefused) {
  fs::copy_file(packed("tensor-uint8.hdf5/40x30"), packed(), fs::copy_options::overwrite_existing);
  const storage::DatasetVariant dataset = open("jpeg.hdf5/40x30");
  EXPECT_THAT([&] { hdf5::open_samples(dataset, {}); },
              ThrowsMessage<Error>(HasSubstr("bytes of samples, the manifest says")));
}

}  // namespace
}  // namespace feedrate::tests
