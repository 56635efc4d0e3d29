#include <gtest/gtest.h>

#include <thread>

#include "experiment/rank.h"
#include "measure/clock.h"

namespace feedrate {
namespace {

constexpr std::size_t kUnsettled = 60;

// Its first steps are as short as the others, but not to be measured all the same.
class SlowToSettle : public Accelerator {
 public:
  DeviceDescription describe() const override { return {.name = "fake", .kind = "fake"}; }
  std::shared_ptr<SlabAllocator> slabs() override { return host_slabs(); }
  void keep(const HostBatch&) override {}
  void submit(BatchLease) override {
    const std::int64_t start = now_ns();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    finished_.push_back({start, now_ns(), 0});
    ++steps_;
  }
  void collect(std::vector<StepRecord>& finished) override {
    finished.insert(finished.end(), finished_.begin(), finished_.end());
    finished_.clear();
  }
  bool settled() const override { return steps_ >= kUnsettled; }
  void drain() override {}

 private:
  std::vector<StepRecord> finished_;
  std::size_t steps_ = 0;
};

TEST(RunRank, MeasuresNothingBeforeTheDeviceHasSettled) {
  const AcceleratorKind kind{.name = "fake", .make = [](std::string_view, const StepSpec&, Group&) { return std::make_unique<SlowToSettle>(); }};
  RankTask task{.limits = {.warmup_seconds = 0, .max_warmup_seconds = 0.01, .min_steps = 5, .min_seconds = 0.01}, .kind = &kind};
  task.settings.data = "synthetic";
  const auto group = make_thread_groups(1);
  const RankResult result = run_rank(task, *group.front(), {});
  EXPECT_GE(result.first, kUnsettled);
  EXPECT_GE(result.last - result.first, 5u);
}

}  // namespace
}  // namespace feedrate
