#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "measure/clock.h"
#include "storage/container.h"
#include "storage/outstanding_reads.h"
#include "storage/storage.h"
#include "tests/support.h"

namespace feedrate::tests {
namespace {

TEST(OutstandingReads, NameTheOldest) {
  TemporaryFolder folder;
  make_dataset(folder.path(), {"jpeg"}, {32, 32}, 8);
  const storage::DatasetVariant dataset = storage::open_dataset(folder.path(), "jpeg/32x32");
  storage::OutstandingReads reads(dataset);
  EXPECT_FALSE(reads.oldest());
  storage::OutstandingReads::Slot &first = reads.add(), &second = reads.add();
  second.begin(dataset.samples[3]);
  measure::sleep_until_ns(measure::now_ns() + 5'000'000);
  first.begin(dataset.samples[1]);
  auto oldest = reads.oldest();
  ASSERT_TRUE(oldest);
  EXPECT_EQ(oldest->path, (dataset.folder / dataset.samples[3].path).string());
  EXPECT_EQ(oldest->offset, 0u);
  EXPECT_GE(oldest->seconds, 0.005);
  second.end();
  EXPECT_EQ(reads.oldest()->path, (dataset.folder / dataset.samples[1].path).string());
  first.end();
  EXPECT_FALSE(reads.oldest());
}

TEST(OutstandingReads, AreToldByAStorageThatWaits) {
  TemporaryFolder folder;
  make_dataset(folder.path(), {"jpeg"}, {32, 32}, 8);
  const storage::DatasetVariant dataset = storage::open_dataset(folder.path(), "jpeg/32x32");
  const auto victim = dataset.folder / dataset.samples[2].path;
  std::filesystem::remove(victim);
  ASSERT_EQ(mkfifo(victim.c_str(), 0600), 0);
  storage::OutstandingReads reads(dataset);
  std::jthread reader([&] {
    const auto storage = storage::make_storage(dataset);
    storage->report_waits_to(reads.add());
    storage::Buffer buffer;
    storage->read(dataset.samples[0], buffer);
    EXPECT_ANY_THROW(storage->read(dataset.samples[2], buffer));
  });
  const auto waits_for_victim = [&] {
    const auto oldest = reads.oldest();  // asked once: the read before may end in between
    return oldest && oldest->path == victim.string();
  };
  while (!waits_for_victim()) std::this_thread::yield();
  std::ofstream{victim};  // lets the reader go
  reader.join();
  EXPECT_FALSE(reads.oldest()) << "a read that failed has ended, too";
}

TEST(OutstandingReads, ThreadsMayComeAtTheSameTime) {
  constexpr int kThreads = 4, kEach = 200;
  const storage::DatasetVariant dataset{.folder = "data",
                                        .samples = {{.path = "a"}, {.path = "oldest"}}};
  storage::OutstandingReads reads(dataset);
  reads.add().begin(dataset.samples[1], 1);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kEach; ++i) reads.add().begin(dataset.samples[0]);
      });
    }
  }
  ASSERT_TRUE(reads.oldest());
  EXPECT_EQ(reads.oldest()->path, "data/oldest");
}

}  // namespace
}  // namespace feedrate::tests
