#include "pipeline/extra_reads.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

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

  void set_share(double reads) { delays_.set(Place::storage, {.reads = reads}); }
  // False: not after long.
  static bool until(const std::function<bool()>& holds) {
    for (int i = 0; i < 10'000 && !holds(); ++i)
      measure::sleep_until_ns(measure::now_ns() + 1'000'000);
    return holds();
  }

  TemporaryFolder folder_;
  storage::DatasetVariant dataset_;
  measure::Delays delays_;
};

TEST_F(ExtraReading, AreTheShareOfTheSamplesThatIsAskedFor) {
  ExtraReads reads(dataset_, delays_, 2, 1, nullptr);
  for (int i = 0; i < 100; ++i) reads.sample_made();
  set_share(0.25);  // a sum without rounding
  for (int i = 0; i < 3; ++i) reads.sample_made();
  measure::sleep_until_ns(measure::now_ns() + 20'000'000);
  EXPECT_EQ(reads.count(), 0) << "none is due yet";
  for (int i = 1; i <= 5; ++i) {
    for (int j = 0; j < (i == 1 ? 1 : 4); ++j) reads.sample_made();
    EXPECT_TRUE(until([&] { return reads.count() == i; }));
  }
  set_share(0);
  for (int i = 0; i < 100; ++i) reads.sample_made();
  measure::sleep_until_ns(measure::now_ns() + 20'000'000);
  EXPECT_EQ(reads.count(), 5);
}

// A storage that is too slow for them must not be read from when its block is long over.
TEST_F(ExtraReading, WhatTheThreadsDoNotKeepUpWithIsLeftOut) {
  set_share(1e5);
  ExtraReads reads(dataset_, delays_, 2, 1, nullptr);
  reads.sample_made();
  EXPECT_TRUE(until([&] { return reads.count() > 0; }));
  measure::sleep_until_ns(measure::now_ns() + 100'000'000);
  EXPECT_LT(reads.count(), 1000) << "two are under way at a time, and none waits for them";
}

TEST_F(ExtraReading, ASampleThatCannotBeReadEndsNothing) {
  for (const storage::SampleFile& sample : dataset_.samples)
    std::filesystem::remove(folder_.path() / "jpeg/40x30" / sample.path);
  set_share(1);
  ExtraReads reads(dataset_, delays_, 2, 1, nullptr);
  for (int i = 0; i < 20; ++i) {
    reads.sample_made();
    measure::sleep_until_ns(measure::now_ns() + 1'000'000);
  }
  EXPECT_EQ(reads.count(), 0);
}

// So that a read that never returns can be reported.
TEST_F(ExtraReading, TellsWhatItReads) {
  const auto victim = folder_.path() / "jpeg/40x30" / dataset_.samples.front().path;
  std::filesystem::remove(victim);
  ASSERT_EQ(mkfifo(victim.c_str(), 0600), 0);  // opening it waits for somebody who writes
  dataset_.samples.resize(1);
  storage::OutstandingReads outstanding(dataset_);
  set_share(1);
  ExtraReads reads(dataset_, delays_, 1, 1, &outstanding);
  EXPECT_FALSE(outstanding.oldest());
  reads.sample_made();
  EXPECT_TRUE(until([&] { return outstanding.oldest().has_value(); }));
  const int writer = open(victim.c_str(), O_WRONLY);
  EXPECT_TRUE(until([&] { return !outstanding.oldest(); }));
  close(writer);
}

TEST_F(ExtraReading, EndWhileTheyAreWantedAndWhileTheyAreNot) {
  for (int i = 0; i < 50; ++i) {
    set_share(i % 2);
    ExtraReads reads(dataset_, delays_, 4, 1, nullptr);
    for (int j = 0; j < i; ++j) reads.sample_made();
  }
}

}  // namespace
}  // namespace feedrate::tests
