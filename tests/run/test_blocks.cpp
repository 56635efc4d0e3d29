#include "run/blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "base/random.h"
#include "device/registry.h"
#include "measure/clock.h"
#include "measure/paired_share.h"
#include "plan/expand.h"
#include "run/cell_runner.h"
#include "run/measurement.h"
#include "run/pairs.h"
#include "tests/run/made_up_rank.h"
#include "tests/support.h"

namespace feedrate::tests {
namespace {

using measure::Place;
using run::BlockPlan;
using run::BlockSchedule;

BlockPlan plan_of(std::size_t blocks, double seconds, int least_steps) {
  return {
      .blocks = std::vector<run::Block>(blocks), .seconds = seconds, .least_steps = least_steps};
}

// Steps one after the other, of 10 ms where nothing else is said; the schedule sees each as it
// ends.
class Steps {
 public:
  // How many more steps it took until the mark rose; 100 if it did not. The workers stand after
  // `quiet_after` of them.
  int until_next_mark(BlockSchedule& schedule, int quiet_after = 0, std::int64_t ms = 10,
                      std::int64_t wait_ms = 0) {
    const std::int64_t mark = schedule.mark();
    int more = 0;
    while (schedule.mark() == mark && more < 100) {
      add(ms, wait_ms);
      ++more;
      schedule.update(steps_, more > quiet_after);
    }
    return more;
  }
  void add(std::int64_t ms = 10, std::int64_t wait_ms = 0) {
    const std::int64_t now = wait_ms * kMs + (steps_.empty() ? 0 : steps_.back().end_ns);
    steps_.push_back({now, now + ms * kMs});
  }
  std::span<const device::StepRecord> all() const { return steps_; }
  double seconds() const { return measure::seconds(steps_.back().end_ns); }
  // With what it waited.
  double last_seconds() const {
    return measure::seconds(steps_.back().end_ns - steps_.end()[-2].end_ns);
  }

 private:
  std::vector<device::StepRecord> steps_;
};

// A schedule whose first block begins behind one step.
struct Begun {
  explicit Begun(const BlockPlan& plan) : schedule(plan) {
    steps.add();
    schedule.begin(steps.all());
  }
  Steps steps;
  BlockSchedule schedule;
};

// How many steps each mark took, from the first block's beginning on. `quiet_after`: of each mark,
// see until_next_mark(); 0 where it is shorter.
std::vector<int> steps_of_marks(const BlockPlan& plan, std::size_t marks,
                                std::vector<int> quiet_after = {}) {
  auto [steps, schedule] = Begun(plan);
  std::vector<int> taken;
  quiet_after.resize(marks);
  for (const int after : quiet_after) taken.push_back(steps.until_next_mark(schedule, after));
  return taken;
}

TEST(BlockSchedule, NothingHappensBeforeItBegins) {
  const BlockPlan plan = plan_of(1, 0.01, 1);
  BlockSchedule schedule(plan);
  Steps steps;
  EXPECT_EQ(steps.until_next_mark(schedule), 100);
  EXPECT_EQ(schedule.mark(), 0);
  EXPECT_FALSE(schedule.is_over());
  schedule.begin(steps.all());
  EXPECT_EQ(schedule.mark(), 1);
}

// Two steps that were in work, a fifth of its 0.5 s to settle, and then all of it.
TEST(BlockSchedule, ABlockSettlesAndIsMeasured) {
  const BlockPlan plan = plan_of(2, 0.5, 6);
  auto [steps, schedule] = Begun(plan);
  EXPECT_EQ(steps.until_next_mark(schedule), 12);
  EXPECT_EQ(schedule.mark(), 2);
  EXPECT_EQ(steps.until_next_mark(schedule), 50);
  EXPECT_EQ(schedule.mark(), 3) << "the next one settles";
  EXPECT_EQ(steps.until_next_mark(schedule), 12);
  EXPECT_FALSE(schedule.is_over());
  EXPECT_EQ(steps.until_next_mark(schedule), 50);
  EXPECT_TRUE(schedule.is_over());
  EXPECT_EQ(steps.until_next_mark(schedule), 100) << "and stays so";
}

// A block that names a longer time settles for that time.
TEST(BlockSchedule, ABlockMaySettleForLonger) {
  BlockPlan plan = plan_of(2, 0.5, 6);
  plan.blocks[1].settling_s = 0.3;
  EXPECT_EQ(steps_of_marks(plan, 4), (std::vector{12, 50, 32, 50}));
}

TEST(BlockSchedule, ABlockMayBeLongerThanOthers) {
  BlockPlan plan = plan_of(2, 0.5, 6);
  plan.blocks[1].length = 2;
  EXPECT_EQ(steps_of_marks(plan, 4), (std::vector{12, 50, 22, 100}));
}

// Workers finish what they have in hand on the CPUs of the steps.
TEST(BlockSchedule, ABlockIsNotMeasuredBeforeTheWorkersStand) {
  const BlockPlan plan = plan_of(2, 0.5, 6);
  EXPECT_EQ(steps_of_marks(plan, 4, {30, 60}), (std::vector{31, 50, 12, 50}))
      << "what is measured is not held up";
  // Looked for twice, as it takes more than 100 steps; two of them were in work.
  const std::vector<int> never_quiet = steps_of_marks(plan, 2, {1000, 1000});
  EXPECT_NEAR(0.01 * (never_quiet[0] + never_quiet[1]), run::kLongestSettling + 0.02, 0.015);
}

// The ceiling's steps in work are no time in which the cell's workers settle.
TEST(BlockSchedule, StepsThatWereInWorkAreNoTimeToSettle) {
  BlockPlan plan = plan_of(1, 0.5, 6);
  for (const int in_work : {0, 2, 30}) {
    plan.settling_steps = static_cast<std::size_t>(in_work) + 1;
    EXPECT_EQ(steps_of_marks(plan, 1), std::vector{in_work + 10});
  }
}

TEST(BlockSchedule, LongStepsMakeLongBlocks) {
  const BlockPlan plan = plan_of(1, 0.001, 6);
  auto [steps, schedule] = Begun(plan);
  EXPECT_EQ(steps.until_next_mark(schedule), 3) << "two steps were in work when the delay changed";
  EXPECT_EQ(steps.until_next_mark(schedule), 6) << "the least steps";
  EXPECT_TRUE(schedule.is_over());
}

BlockPlan in_pairs(std::size_t blocks, double seconds, int least_steps) {
  BlockPlan plan = plan_of(blocks, seconds, least_steps);
  plan.in_pairs = true;
  plan.settling_steps = 1;
  for (std::size_t i = 1; i < plan.blocks.size(); i += 2) plan.blocks[i].is_ceiling = true;
  return plan;
}

// What slows the machine for a few steps is to meet both kinds of blocks.
TEST(BlockSchedule, FarSlowerStepsEndABlockOfAPair) {
  BlockPlan plan = in_pairs(6, 0.01, 4);
  const auto block_of = [](Begun& run, std::int64_t ms) {
    run.steps.until_next_mark(run.schedule);
    return run.steps.until_next_mark(run.schedule, 0, ms);
  };
  for (const bool may : {true, false}) {
    plan.may_end_early = may;
    Begun run(plan);
    const auto block = [&](std::int64_t ms) { return block_of(run, ms); };
    EXPECT_EQ(block(30), 4) << "the first: nobody knows better";
    EXPECT_EQ(block(100), may ? 1 : 4) << "the ceiling's, which are the same steps";
    EXPECT_EQ(block(85), 4) << "not three times as long";
    EXPECT_EQ(block(310), may ? 1 : 4);
    EXPECT_EQ(block(95), may ? 1 : 4) << "longer than the fastest, not than the last";
  }
  plan.may_end_early = true;
  Begun run(plan);
  const std::array ms{10, 40, 10, 40}, lasted{4, 1, 4, 4};
  for (std::size_t i = 0; i < ms.size(); ++i)
    EXPECT_EQ(block_of(run, ms[i]), lasted[i]) << i << ", of a cell with more to do";
}

// Of 10 ms. What the loader does in the time between them says nothing of the machine.
TEST(BlockSchedule, StepsThatWaitForTheirBatchesAreNotFarSlower) {
  BlockPlan plan = in_pairs(2, 0.01, 4);
  plan.may_end_early = true;
  auto [steps, schedule] = Begun(plan);
  for (const int wait_ms : {0, 500}) {
    steps.until_next_mark(schedule, 0, 10, wait_ms);
    EXPECT_EQ(steps.until_next_mark(schedule, 0, 10, wait_ms), 4);
  }
}

// Of a run in pairs with two workers. `add` adds its next step, of the ceiling or of the cell.
template <typename Add>
measure::PairedShare share_of_run(const char* device, double seconds, std::uint64_t seed, Add add) {
  const run::BlockPlan plan = run::pairs_of(
      {.device_kind = device, .data = "jpeg", .workers = 2, .feed = device::Feed::streamed},
      {.min_seconds = seconds}, seed);
  auto [steps, schedule] = Begun(plan);
  std::vector<measure::WorkPair> pairs;
  measure::WorkPair pair;
  bool is_whole = false;
  while (!is_whole || steps.seconds() < seconds) {
    const std::size_t block = BlockSchedule::block_of(schedule.mark());
    const bool is_ceiling = plan.blocks[block].is_ceiling;
    add(steps, is_ceiling);
    if (BlockSchedule::is_measured(schedule.mark())) {
      measure::BlockWork& work = is_ceiling ? pair.ceiling : pair.cell;
      ++work.images;
      work.seconds += steps.last_seconds();
    }
    schedule.update(steps.all());
    is_whole = schedule.ended() > block && block % 2 == 1;
    if (is_whole) pairs.push_back(std::exchange(pair, {}));
  }
  return measure::share_of_pairs(pairs);
}

// The device takes 8 ms a step, the loader 32 ms a batch; every so many-th batch takes as much more
// as all of these together, which halves the rate.
measure::PairedShare share_in_a_rhythm(int every, double seconds, std::uint64_t seed) {
  constexpr int kStepMs = 8, kBatchMs = 32;
  std::uint64_t own = mix64(seed, 1) % 64;
  return share_of_run("emulated", seconds, seed, [&](auto& steps, bool is_ceiling) {
    const bool waits = !is_ceiling && ++own % static_cast<std::uint64_t>(every) == 0;
    steps.add(kStepMs, is_ceiling ? 0 : kBatchMs - kStepMs + (waits ? every * kBatchMs : 0));
  });
}

// However the rhythm lies to the blocks.
TEST(BlockSchedule, LongWaitsInARhythmFallIntoEveryPartOfThePairs) {
  constexpr double kTrue = 0.125;
  constexpr int kSeeds = 60;
  int all = 0, holding = 0;
  for (const int every : {2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64}) {
    int held = 0;
    double slowness = 0;  // of what is found, beside the true one
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const measure::PairedShare found = share_in_a_rhythm(every, 20, seed);
      held += found.ci95->low <= kTrue && kTrue <= found.ci95->high;
      slowness += kTrue / found.share / kSeeds;
    }
    EXPECT_GE(held, 0.7 * kSeeds) << every;
    EXPECT_NEAR(slowness, 1, 0.15) << every;
    all += kSeeds, holding += held;
  }
  EXPECT_GE(holding, 0.93 * all);
}

// The loader takes the CPUs from the cell's steps, which last five times as long while it does: for
// eight steps, sixty after the last time on average. In the ceiling's blocks it stands.
measure::PairedShare share_beside_bursts(double seconds, std::uint64_t seed) {
  constexpr int kStepMs = 20, kSlower = 5, kBurst = 8;
  Random chance(mix64(seed, 1));
  int left = 0;
  return share_of_run("cpu", seconds, seed, [&](auto& steps, bool is_ceiling) {
    if (!is_ceiling && left == 0 && chance.below(60) == 0) left = kBurst;
    const bool is_slow = !is_ceiling && left > 0;
    left -= is_slow;
    steps.add(is_slow ? kSlower * kStepMs : kStepMs);
  });
}

TEST(BlockSchedule, BurstsOfTheLoadersAloneCountInFull) {
  constexpr double kTrue = 67.0 / (59 + 8 * 5);  // 59 others between two bursts
  double slowness = 0;
  constexpr int kSeeds = 40;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed)
    slowness += kTrue / share_beside_bursts(120, seed).share / kSeeds;
  EXPECT_NEAR(slowness, 1, 0.04);
}

TEST(BlockSchedule, BlocksAreTwiceAsLongOnceBegunAnew) {
  const BlockPlan in_time = plan_of(3, 0.5, 6), in_steps = plan_of(3, 0.001, 6);
  for (const BlockPlan* plan : {&in_time, &in_steps}) {
    const bool is_in_time = plan == &in_time;
    auto [steps, schedule] = Begun(*plan);
    steps.until_next_mark(schedule);
    EXPECT_EQ(steps.until_next_mark(schedule), is_in_time ? 50 : 6);
    schedule.begin_anew();
    EXPECT_EQ(steps.until_next_mark(schedule), is_in_time ? 22 : 3);
    EXPECT_EQ(steps.until_next_mark(schedule), is_in_time ? 100 : 12);
  }
}

TEST(BlockSchedule, WithoutANewStepNothingChanges) {
  const BlockPlan plan = plan_of(1, 0, 0);
  auto [steps, schedule] = Begun(plan);
  schedule.update(steps.all());
  schedule.update(steps.all());
  EXPECT_EQ(schedule.mark(), 1);
}

TEST(BlockSchedule, MarksTellTheBlockAndWhetherItIsMeasured) {
  EXPECT_FALSE(BlockSchedule::is_measured(0));
  for (std::size_t block = 0; block < 3; ++block) {
    const auto settles = static_cast<std::int64_t>(2 * block + 1);
    EXPECT_EQ(BlockSchedule::block_of(settles), block);
    EXPECT_EQ(BlockSchedule::block_of(settles + 1), block);
    EXPECT_FALSE(BlockSchedule::is_measured(settles));
    EXPECT_TRUE(BlockSchedule::is_measured(settles + 1));
  }
}

TEST(BlockResult, KeepsUpWhatIsMadeAndTaken) {
  const auto keeps_up = [](double taken, double made) {
    return run::BlockResult{.taken_per_s = taken, .made_per_s = made}.imgs_per_s();
  };
  EXPECT_EQ(keeps_up(100, 80), 80) << "out of the queue's stock";
  EXPECT_EQ(keeps_up(100, 120), 100) << "into the queue";
  EXPECT_EQ(keeps_up(100, -1), 100) << "nothing is made";
  EXPECT_EQ(keeps_up(100, 0), 0) << "made was none";
}

// A rank that measured blocks of four steps of 10 ms each, and made `made` samples in 20 ms of one.
run::RankResult rank_with_blocks(std::int64_t blocks, std::int64_t made) {
  run::RankResult rank = rank_of(0, 40);
  for (std::int64_t b = 0; b < blocks; ++b) {
    run::BlockSpan span{
        .block = b, .first = 2 + 5 * b, .last = 6 + 5 * b, .made = made, .made_in_s = 0.020};
    span.stages[measure::Stage::decode] = {5, 3, 1, 0};
    rank.blocks.push_back(span);
  }
  return rank;
}
run::Measurement measured(std::vector<run::RankResult> ranks) {
  plan::CellSettings settings;
  settings.batch_size = 8;
  settings.gpus = static_cast<int>(ranks.size());
  return run::measurement_of(settings, {.ranks = std::move(ranks)});
}

TEST(Blocks, AreOfAllRanks) {
  std::vector<run::RankResult> ranks = {rank_with_blocks(1, 10), rank_with_blocks(1, 20)};
  ranks[0].blocks[0].extra_reads = 4;
  ranks[1].blocks[0].extra_reads = 5;
  const auto m = measured(std::move(ranks));
  ASSERT_EQ(m.blocks.size(), 1u);
  const run::BlockResult& block = m.blocks[0];
  EXPECT_NEAR(block.seconds, 0.040, 1e-9);
  EXPECT_NEAR(block.taken_per_s, 4 * 8 * 2 / 0.040, 1e-6);
  EXPECT_NEAR(block.made_per_s, (10 + 20) / 0.020, 1e-6);
  EXPECT_EQ(block.stages[measure::Stage::decode].wall_ns, 10);
  EXPECT_EQ(block.idle_fraction, 0);
  EXPECT_NEAR(block.extra_reads, (4 + 5) / 30.0, 1e-9) << "for each sample";
}

TEST(Blocks, TheDevicesWaitingIsIdle) {
  run::RankResult rank = rank_with_blocks(1, -1);
  for (device::StepRecord& step : rank.steps) step.start_ns += 4 * kMs;
  const auto m = measured({rank});
  ASSERT_EQ(m.blocks.size(), 1u);
  EXPECT_NEAR(m.blocks[0].idle_fraction, 0.4, 1e-9);
  EXPECT_LT(m.blocks[0].made_per_s, 0) << "nothing is made";
}

TEST(Blocks, ThoseThatNotAllRanksMeasuredAreLeftOut) {
  EXPECT_EQ(measured({rank_with_blocks(3, 1), rank_with_blocks(2, 1)}).blocks.size(), 2u);
  run::RankResult other = rank_with_blocks(3, 1);
  other.blocks.erase(other.blocks.begin());
  const auto blocks = measured({rank_with_blocks(3, 1), other}).blocks;
  ASSERT_EQ(blocks.size(), 2u) << "the one that it lacks is, the others are not";
  EXPECT_EQ(blocks.front().block, 1u);
}

// 2 workers of 8 ms a sample make 250 images/s, the device takes 1000.
class BlocksOfACell : public testing::Test {
 protected:
  BlocksOfACell() {
    make_dataset(folder_.path(), {"raw"}, {8, 8}, 64);
    options_.data = folder_.path();
    options_.plant = true;
    options_.limits = {.warmup_seconds = 0.2, .max_warmup_seconds = 2, .min_steps = 4};
    options_.planted[static_cast<std::size_t>(measure::Stage::decode)].ns = 8 * kMs;
  }
  run::Measurement measure(const BlockPlan& blocks, const char* gpus, double most_seconds = 60) {
    device::AcceleratorRegistry registry;
    const plan::Cell cell = plan::expand({{"device", {"emulated:1000"}},
                                          {"data", {"raw"}},
                                          {"workers", {"2"}},
                                          {"gpus", {gpus}},
                                          {"batch-size", {"4"}},
                                          {"image-size", {"8"}},
                                          {"input-size", {"8"}}})
                                .at(0);
    const run::CellResult result =
        run::CellRunner(options_, registry).run_blocks(cell, blocks, most_seconds, {}, {}, 1);
    EXPECT_EQ(result.status, run::Status::ok) << result.error;
    return result.measurement.value_or(run::Measurement{});
  }
  // Every other block has it.
  static BlockPlan every_other(Place place, std::int64_t ns) {
    BlockPlan plan{.seconds = 0.3};
    for (int pair = 0; pair < 3; ++pair) {
      plan.blocks.push_back({place, {}});
      plan.blocks.push_back({place, {.ns = ns}});
    }
    return plan;
  }
  // The mean logarithm of how much slower the delayed blocks are.
  static double slower(const run::Measurement& m) {
    double all = 0;
    for (const run::BlockResult& block : m.blocks)
      all += (block.block % 2 == 0 ? 1 : -1) * std::log(block.imgs_per_s());
    return all / (static_cast<double>(m.blocks.size()) / 2);
  }

  TemporaryFolder folder_;
  run::RunOptions options_;
};

// 4 ms more of a sample: 167 images/s.
TEST_F(BlocksOfACell, ADelayInTheWorkersThatBindShowsInItsBlocks) {
  const run::Measurement m = measure(every_other(Place::worker, 4 * kMs), "1");
  ASSERT_EQ(m.blocks.size(), 6u);
  const double expected = std::log(12.0 / 8);
  EXPECT_GT(slower(m), 0.6 * expected);
  EXPECT_LT(slower(m), 1.4 * expected);
  EXPECT_LT(m.blocks[0].imgs_per_s(), 250 * 1.1) << "no faster than the workers";
  EXPECT_GT(m.blocks[0].idle_fraction, 0.4) << "the device waits for them";
  EXPECT_GT(m.blocks[0].stages[measure::Stage::decode].items, 0);
}

// 4 ms more of a step of 4 ms, which has 16.
TEST_F(BlocksOfACell, ADelayInStepsThatWaitDoesNot) {
  const run::Measurement m = measure(every_other(Place::step, 4 * kMs), "1");
  ASSERT_EQ(m.blocks.size(), 6u);
  EXPECT_LT(std::abs(slower(m)), 0.4 * std::log(12.0 / 8));
  EXPECT_LT(m.blocks[1].idle_fraction, m.blocks[0].idle_fraction) << "but it was there";
}

TEST_F(BlocksOfACell, AllRanksHaveTheSameBlocks) {
  const run::Measurement m = measure(every_other(Place::worker, 4 * kMs), "2");
  ASSERT_EQ(m.blocks.size(), 6u);
  for (std::size_t b = 0; b < m.blocks.size(); ++b) EXPECT_EQ(m.blocks[b].block, b);
  EXPECT_GT(slower(m), 0.6 * std::log(12.0 / 8));
}

TEST_F(BlocksOfACell, ARunThatIsTooShortEndsWithTheBlocksThatFit) {
  const run::Measurement m = measure(every_other(Place::worker, 4 * kMs), "1", 0.9);
  EXPECT_GE(m.blocks.size(), 1u);
  EXPECT_LT(m.blocks.size(), 6u);
}

// The end of the run cuts the third block off: it is as good as none.
TEST_F(BlocksOfACell, ABlockThatIsCutShortIsNotMeasured) {
  const run::Measurement m = measure(every_other(Place::worker, 4 * kMs), "1", 0.95);
  for (const run::BlockResult& block : m.blocks) EXPECT_GE(block.seconds, 0.3) << block.block;
}

}  // namespace
}  // namespace feedrate::tests
