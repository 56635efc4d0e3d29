#include <gtest/gtest.h>

#include <thread>

#include "device/registry.h"
#include "measure/clock.h"
#include "ranks/thread_groups.h"
#include "run/rank.h"

namespace feedrate::tests {
namespace {

constexpr std::size_t kUnsettled = 60;

// Its first steps are as short as the others, but not to be measured all the same.
class SlowToSettle : public device::Accelerator {
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
  void collect(std::vector<device::StepRecord>& finished) override {
    finished.insert(finished.end(), finished_.begin(), finished_.end());
    finished_.clear();
  }
  bool settled() const override { return steps_ >= kUnsettled; }
  void drain() override {}

 private:
  std::vector<device::StepRecord> finished_;
  std::size_t steps_ = 0;
};

TEST(RunRank, MeasuresNothingBeforeTheDeviceHasSettled) {
  const device::AcceleratorKind kind{
      .name = "fake", .make = [](std::string_view, const device::StepSpec&, device::Group&) {
        return std::make_unique<SlowToSettle>();
      }};
  run::RankTask task{.limits = {.warmup_seconds = 0,
                                .max_warmup_seconds = 0.01,
                                .min_steps = 5,
                                .min_seconds = 0.01},
                     .kind = &kind};
  const auto group = ranks::make_thread_groups(1);
  const run::RankResult result = run::run_rank(task, *group.front(), {});
  EXPECT_GE(result.first, kUnsettled);
  EXPECT_GE(result.last - result.first, 5u);
}

}  // namespace
}  // namespace feedrate::tests
