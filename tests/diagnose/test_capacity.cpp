#include <gtest/gtest.h>

#include "diagnose/capacity.h"

namespace feedrate {
namespace {

StageTotal total(double ms_per_item, std::int64_t items) {
  return {static_cast<std::int64_t>(ms_per_item * 1e6 * static_cast<double>(items)), 0, items, 0};
}

TEST(Capacity, OfEachResourceInItsClosedForm) {
  CapacityInputs run{.imgs_per_s = 240, .gpus = 2, .workers = 3, .batch_size = 10, .device_ms_per_step = 50,
                     .copy_bytes_per_image = 1e6, .bus_bytes_per_s = 1e9};
  run.stages.stage = {total(5, 100), total(10, 100), total(4, 100), total(1, 100)};
  const auto all = capacities(run);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].resource, "loader");
  EXPECT_NEAR(all[0].imgs_per_s, 2 * 3 / 0.020, 1e-6);
  EXPECT_NEAR(all[0].utilisation, 0.8, 1e-9);
  EXPECT_EQ(all[0].largest_stage, "decode");
  EXPECT_NEAR(all[0].largest_share, 0.5, 1e-9);
  EXPECT_EQ(all[1].resource, "device");
  EXPECT_NEAR(all[1].imgs_per_s, 400, 1e-9);
  EXPECT_EQ(all[2].resource, "link");
  EXPECT_NEAR(all[2].imgs_per_s, 2000, 1e-9);
}

TEST(Capacity, NothingIsInventedForWhatWasNotMeasured) { EXPECT_TRUE(capacities({}).empty()); }

}  // namespace
}  // namespace feedrate
