#include "pipeline/extra_reads.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "measure/clock.h"
#include "storage/container.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

using measure::Place;
using pipeline::ExtraReads;

class ExtraReading : public testing::Test {
 protected:
  ExtraReading() {
    make_dataset(folder_.path(), {"jpeg"}, {40, 30}, 64);
    dataset_ = storage::open_dataset(folder_.path(), "jpeg/40x30");
  }
  void SetUp() override {
    try {
      storage::make_storage(dataset_, {&storage::find_io_engine("direct"), 1})
          ->read(dataset_.samples.front());
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  void set_share(double reads) {
    delays_.set(Place::storage, {.ns = std::llround(reads * measure::kReadEach)});
  }
  // Slowly enough for the threads to keep up.
  static void make_samples(ExtraReads& reads, int count) {
    for (int i = 0; i < count; ++i) {
      const std::int64_t before = reads.count();
      reads.sample_made();
      for (int j = 0; j < 20 && reads.count() == before; ++j)
        measure::sleep_until_ns(measure::now_ns() + 100'000);
    }
  }

  TemporaryFolder folder_;
  storage::DatasetVariant dataset_;
  measure::Delays delays_;
};

TEST_F(ExtraReading, AreTheShareOfTheSamplesThatIsAskedFor) {
  ExtraReads reads(dataset_, delays_, 2, 1, nullptr);
  make_samples(reads, 50);
  EXPECT_EQ(reads.count(), 0) << "none was asked for";
  set_share(0.2);
  make_samples(reads, 50);
  EXPECT_EQ(reads.count(), 10);
  set_share(2);
  reads.sample_made();
  while (reads.count() < 12) measure::sleep_until_ns(measure::now_ns() + 100'000);
  set_share(0);
  make_samples(reads, 50);
  EXPECT_EQ(reads.count(), 12);
}

// A storage that is too slow for them must not be read from when its block is long over.
TEST_F(ExtraReading, WhatTheThreadsDoNotKeepUpWithIsLeftOut) {
  set_share(1000);
  ExtraReads reads(dataset_, delays_, 2, 1, nullptr);
  reads.sample_made();
  measure::sleep_until_ns(measure::now_ns() + 50'000'000);
  EXPECT_LT(reads.count(), 1000);
}

TEST_F(ExtraReading, ASampleThatCannotBeReadEndsNothing) {
  for (const storage::SampleFile& sample : dataset_.samples)
    std::filesystem::remove(folder_.path() / "jpeg/40x30" / sample.path);
  set_share(1);
  ExtraReads reads(dataset_, delays_, 2, 1, nullptr);
  make_samples(reads, 20);
  EXPECT_EQ(reads.count(), 0);
}

TEST_F(ExtraReading, TellsWhatItReads) {
  storage::OutstandingReads outstanding(dataset_);
  set_share(1);
  ExtraReads reads(dataset_, delays_, 1, 1, &outstanding);
  make_samples(reads, 5);
  EXPECT_FALSE(outstanding.oldest()) << "none is left";
}

}  // namespace
}  // namespace feedrate::tests
