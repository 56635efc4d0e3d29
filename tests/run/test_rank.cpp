#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/error.h"
#include "device/registry.h"
#include "measure/clock.h"
#include "ranks/thread_groups.h"
#include "run/process_work.h"
#include "run/rank.h"

namespace feedrate::tests {
namespace {

// Its steps take a millisecond, and it does nothing.
class Idler : public device::Accelerator {
 public:
  device::DeviceDescription describe() const override { return {.name = "fake", .kind = "fake"}; }
  std::shared_ptr<pipeline::SlabAllocator> slabs() override { return pipeline::host_slabs(); }
  void keep(const pipeline::HostBatch&) override {}
  void submit(pipeline::BatchLease) override {
    const std::int64_t start = measure::now_ns();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    finished_.push_back({start, measure::now_ns(), 0});
    ++steps_;
  }
  void submit_synthetic() override { submit(nullptr); }
  void collect(std::vector<device::StepRecord>& finished) override {
    finished.insert(finished.end(), finished_.begin(), finished_.end());
    finished_.clear();
  }
  void drain() override {}

 protected:
  std::size_t steps() const { return steps_; }

 private:
  std::vector<device::StepRecord> finished_;
  std::size_t steps_ = 0;
};

constexpr std::size_t kUnsettled = 60;

// Its first steps are as short as the others, but not to be measured all the same.
class SlowToSettle : public Idler {
 public:
  bool settled() const override { return steps() >= kUnsettled; }
};

constexpr run::RunLimits kShort{
    .warmup_seconds = 0, .max_warmup_seconds = 0.01, .min_steps = 5, .min_seconds = 0.01};

TEST(RunRank, MeasuresNothingBeforeTheDeviceHasSettled) {
  const device::AcceleratorKind kind{
      .name = "fake", .make = [](std::string_view, const device::StepSpec&, device::Group&) {
        return std::make_unique<SlowToSettle>();
      }};
  run::RankTask task{.options = {.limits = kShort}, .kind = &kind};
  const auto group = ranks::make_thread_groups(1);
  run::KeptDevice kept;
  const run::RankResult result = run::run_rank(task, *group.front(), {}, kept);
  EXPECT_GE(result.first, kUnsettled);
  EXPECT_GE(result.last - result.first, 5u);
}

// At a step it finds that its loss is no number. As by an exchange of gradients, a step that only
// some ranks make would never end.
class Fails : public Idler {
 public:
  Fails(std::size_t at, std::atomic<std::size_t>& made) : at_(at), made_(made) {}
  ~Fails() override { made_ = steps(); }
  bool has_failed() const override { return steps() >= at_; }
  void drain() override {
    if (has_failed()) throw Error("fake", "the loss is NaN");
  }

 private:
  const std::size_t at_;
  std::atomic<std::size_t>& made_;
};

// Whichever rank it is: rank 0 decides, the others follow.
TEST(RunRank, AllRanksStopAtTheStepAtWhichOneHasFailed) {
  constexpr std::size_t kAt = 20, kNever = 1'000'000;
  for (const int failing : {0, 2}) {
    std::atomic<std::size_t> made[3];
    const device::AcceleratorKind kind{
        .name = "fake",
        .make = [&](std::string_view, const device::StepSpec&, device::Group& group) {
          return std::make_unique<Fails>(group.rank() == failing ? kAt : kNever,
                                         made[group.rank()]);
        }};
    run::RankTask task{.options = {.limits = kShort}, .kind = &kind};
    task.options.limits.min_seconds = 30;
    task.settings.gpus = 3;
    try {
      run::run_rank_threads(task, {});
      FAIL() << "rank " << failing << "'s error is lost";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "fake: the loss is NaN");
    }
    for (const auto& steps : made) EXPECT_EQ(steps, kAt) << failing;
  }
}

TEST(RankTask, ItsCeilingShowsPicturesOrNoise) {
  device::AcceleratorRegistry registry;
  registry.add({.name = "fake"});
  for (const bool pictures : {true, false}) {
    const plan::CellSettings settings{.device = "fake", .pictures = pictures};
    const run::RankTask task = run::make_rank_task(settings, {}, registry, nullptr, {}, {}, {});
    EXPECT_EQ(task.step.draw != nullptr, pictures);
  }
}

}  // namespace
}  // namespace feedrate::tests
