#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>

#include "device/registry.h"
#include "ranks/thread_groups.h"
#include "run/kept_device.h"
#include "run/rank.h"
#include "storage/dataset.h"
#include "tests/run/raw_cell.h"
#include "tests/support.h"

namespace feedrate::tests {
namespace {

// Runs tasks one after the other on an emulated device, as one rank, and counts how often a device
// is made.
class RunsOfAProcess : public testing::Test {
 protected:
  RunsOfAProcess() {
    make_dataset(folder_.path(), {"raw"}, {8, 8}, 64);
    dataset_ = storage::open_dataset(folder_.path(), "raw/8x8");
    options_.data = folder_.path();
    options_.in_pairs = true;
    options_.limits = {.warmup_seconds = 0, .max_warmup_seconds = 0.1, .min_seconds = 0.1};
    registry_.add(
        {.name = "fake",
         .make =
             [this](std::string_view, const device::StepSpec& spec, device::Group& group) {
               ++made_;
               return registry_.find("emulated:1000").make("1000", spec, group);
             },
         .goes_on = true});
  }
  run::RankTask task(const plan::AxisValues& more = {}) {
    plan::CellSettings settings = plan::settings_of(raw_cell(more));
    settings.device = "fake";
    return run::make_rank_task(settings, options_, registry_, &dataset_, {}, {}, {});
  }
  // Devices that were made for it: 0 or 1.
  int makes(const run::RankTask& task) {
    const int before = made_;
    const run::RankResult result = run::run_rank(task, *group_.front(), {}, kept_);
    EXPECT_FALSE(result.interrupted);
    EXPECT_GE(result.last - result.first, 5u);
    return made_ - before;
  }

  TemporaryFolder folder_;
  storage::DatasetVariant dataset_;
  run::RunOptions options_;
  device::AcceleratorRegistry registry_;
  int made_ = 0;
  const std::vector<std::unique_ptr<device::Group>> group_ = ranks::make_thread_groups(1);
  run::KeptDevice kept_;
};

TEST_F(RunsOfAProcess, CellsOfASettingHaveOneDevice) {
  EXPECT_EQ(makes(task()), 1);
  EXPECT_EQ(makes(task({{"workers", {"1"}}})), 0);
  EXPECT_EQ(makes(task({{"loader", {"batch"}}})), 0);
}

TEST_F(RunsOfAProcess, WhatTheDeviceIsMadeForMustBeTheSame) {
  EXPECT_EQ(makes(task()), 1);
  EXPECT_EQ(makes(task({{"batch-size", {"8"}}})), 1);
  EXPECT_EQ(makes(task()), 1) << "one is kept, not all";
  run::RankTask other_argument = task();
  other_argument.settings.device_argument = "1";
  EXPECT_EQ(makes(other_argument), 1);
}

TEST_F(RunsOfAProcess, ARunThatIsNotInPairsHasADeviceOfItsOwn) {
  EXPECT_EQ(makes(task()), 1);
  options_.in_pairs = false;
  EXPECT_EQ(makes(task()), 1);
  options_.in_pairs = true;
  EXPECT_EQ(makes(task()), 1) << "nothing is held beside it";
}

TEST_F(RunsOfAProcess, AKindThatDoesNotGoOnIsMadeAnew) {
  device::AcceleratorKind emulated = registry_.find("fake");
  emulated.goes_on = false;
  run::RankTask first = task();
  first.kind = &emulated;
  EXPECT_EQ(makes(first), 1);
  EXPECT_EQ(makes(first), 1);
}

// What has planted the delays ends with the run.
TEST_F(RunsOfAProcess, ADelayedDeviceIsNotKept) {
  options_.plant = true;
  options_.planted_delays[static_cast<std::size_t>(measure::Place::step)] = 1000;
  EXPECT_EQ(makes(task()), 1);
  EXPECT_EQ(makes(task()), 1);
}

TEST_F(RunsOfAProcess, ADeviceThatDecodesIsNotKept) {
  run::RankTask decoding = task();
  EXPECT_TRUE(run::KeptDevice::keeps(decoding));
  decoding.step.batch.encoded_slot = 1000;
  EXPECT_FALSE(run::KeptDevice::keeps(decoding));
}

TEST_F(RunsOfAProcess, ARunThatFailsLeavesNoDevice) {
  EXPECT_EQ(makes(task()), 1);
  const std::filesystem::path away = folder_.path() / "away";
  std::filesystem::rename(dataset_.folder, away);
  EXPECT_THROW(makes(task()), std::runtime_error);
  std::filesystem::rename(away, dataset_.folder);
  EXPECT_EQ(makes(task()), 1);
}

}  // namespace
}  // namespace feedrate::tests
