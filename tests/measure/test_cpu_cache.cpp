#include <gtest/gtest.h>

#include "made_up_system.h"
#include "measure/cpu_cache.h"

namespace feedrate::tests {
namespace {

class CpuCache : public MadeUpSystem {};

// Two sockets of two CPUs: each CPU has caches of its own, each socket one of 32 MiB.
TEST_F(CpuCache, SharedOnesCountOnce) {
  for (int cpu = 0; cpu < 4; ++cpu) {
    const std::string cache = "cpu" + std::to_string(cpu) + "/cache/";
    write(cache + "index0/level", "1");
    write(cache + "index0/type", "Data");
    write(cache + "index0/size", "32K");
    write(cache + "index0/shared_cpu_list", std::to_string(cpu));
    write(cache + "index3/level", "3");
    write(cache + "index3/type", "Unified");
    write(cache + "index3/size", "32768K");
    write(cache + "index3/shared_cpu_list", cpu < 2 ? "0-1" : "2-3");
  }
  write("online", "0-3");
  EXPECT_EQ(measure::last_level_cache_bytes(root_), 64U << 20);
}

TEST_F(CpuCache, UnknownIsZero) { EXPECT_EQ(measure::last_level_cache_bytes("/nowhere"), 0U); }

}  // namespace
}  // namespace feedrate::tests
