#include "cli/plant_option.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/message_of.h"

namespace feedrate::tests {
namespace {

using measure::Place;
using measure::Stage;
using testing::HasSubstr;

run::RunOptions planted(const std::vector<std::string>& plants) {
  run::RunOptions options;
  cli::plant(plants, options);
  return options;
}
const pipeline::PlantedStage& at(const run::RunOptions& options, Stage stage) {
  return options.planted[static_cast<std::size_t>(stage)];
}
std::int64_t at(const run::RunOptions& options, Place place) {
  return options.planted_delays[static_cast<std::size_t>(place)];
}

TEST(PlantOption, NothingIsPlantedUnasked) { EXPECT_FALSE(planted({}).plant); }

TEST(PlantOption, PlantsInAStageOfTheWorkers) {
  const run::RunOptions options = planted({"read=2", "decode=1.5:burn"});
  EXPECT_TRUE(options.plant);
  EXPECT_EQ(at(options, Stage::read).ns, 2'000'000);
  EXPECT_FALSE(at(options, Stage::read).burns);
  EXPECT_EQ(at(options, Stage::decode).ns, 1'500'000);
  EXPECT_TRUE(at(options, Stage::decode).burns);
  EXPECT_EQ(at(options, Stage::augment).ns, 0);
}

TEST(PlantOption, PlantsSpikes) {
  const run::RunOptions options = planted({"read=2:spike=50@16", "augment=1:burn:spike=0.5@3"});
  EXPECT_EQ(at(options, Stage::read).ns, 2'000'000);
  EXPECT_EQ(at(options, Stage::read).spike_ns, 50'000'000);
  EXPECT_EQ(at(options, Stage::read).every, 16);
  EXPECT_TRUE(at(options, Stage::augment).burns);
  EXPECT_EQ(at(options, Stage::augment).spike_ns, 500'000);
}

TEST(PlantOption, PlantsOnTheWayToTheDeviceAndThere) {
  const run::RunOptions options = planted({"copy=3", "step=40", "all-reduce=5"});
  EXPECT_TRUE(options.plant);
  EXPECT_EQ(at(options, Place::copy), 3'000'000);
  EXPECT_EQ(at(options, Place::step), 40'000'000);
  EXPECT_EQ(at(options, Place::all_reduce), 5'000'000);
  EXPECT_EQ(at(options, Place::worker), 0);
}

TEST(PlantOption, RefusesWhatIsNoPlaceOrNoTime) {
  for (const char* text : {"",
                           "read",
                           "=2",
                           "read=",
                           "read=x",
                           "read=2ms",
                           "read= 2",
                           "read=-1",
                           "read=nan",
                           "read=inf",
                           "read=100001",
                           "read=2:burns",
                           "read=2:burn:burn",
                           "elsewhere=2",
                           "worker=2",
                           "step=2:burn",
                           "read=2:spike=50",
                           "read=2:spike=50@0",
                           "read=2:spike=50@-1",
                           "read=2:spike=50@x",
                           "read=2:spike=@4",
                           "read=2:spike=50@4:burn",
                           "read=2:spike=50@4@4"}) {
    run::RunOptions options;
    EXPECT_THROW(cli::plant({text}, options), UsageError) << text;
  }
  EXPECT_THAT(message_of([] { planted({"read=2ms"}); }), HasSubstr("--plant read=2ms"));
}

// Where nothing is planted although it was asked for, no diagnosis can be tested.
TEST(PlantOption, RefusesSpikesWhereThereAreNone) {
  for (const char* text : {"step=2:spike=50@16", "copy=3:spike=x", "read=2:spike="})
    EXPECT_THROW(planted({text}), UsageError) << text;
}
TEST(PlantOption, RefusesALockThatNoMakerServes) { EXPECT_THROW(planted({"lock=2"}), UsageError); }

}  // namespace
}  // namespace feedrate::tests
