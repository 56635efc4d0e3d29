#include "judge/reads_in_flight.h"

#include <gtest/gtest.h>

#include "plan/expand.h"

namespace feedrate::tests {
namespace {

plan::CellSettings settings_of_reader(plan::AxisValues values) {
  values.insert({"device", {"emulated:1000"}});
  values.insert({"data", {"jpeg"}});
  values.insert({"workers", {"2"}});
  return plan::settings_of(plan::expand(values).at(0));
}

// Reads of 20 ms.
storage::ReadLatencies far_reads() {
  storage::ReadLatencies latencies;
  latencies.reads.counts[measure::latency_bucket(20'000'000)] = 100;
  return latencies;
}

TEST(ReadsInFlightOf, ABatchBoundsThoseOfALoaderThatDrainsAtItsEnd) {
  const auto count = [](const plan::AxisValues& values) {
    plan::AxisValues all{{"io", {"uring"}}, {"io-depth", {"16"}}, {"batch-size", {"4"}}};
    for (const auto& [axis, typed] : values) all[axis] = typed;
    const auto reads = judge::reads_in_flight_of(settings_of_reader(all), far_reads());
    return reads ? reads->count : 0;
  };
  EXPECT_EQ(count({}), 2 * 16);
  EXPECT_EQ(count({{"loader", {"batch"}}}), 2 * 4);
  EXPECT_EQ(count({{"workers", {"0"}}}), 4);
  EXPECT_EQ(count({{"loader", {"batch"}}, {"batch-size", {"64"}}}), 2 * 16);
}

TEST(OneReaderOf, IsThatOfALoaderOrALibrary) {
  EXPECT_EQ(judge::one_reader_of(settings_of_reader({})), "");
  EXPECT_EQ(judge::one_reader_of(settings_of_reader({{"loader", {"batch"}}})), "");
  plan::CellSettings settings = settings_of_reader({});
  settings.container = "hdf5";
  EXPECT_EQ(judge::one_reader_of(settings), "--container hdf5");
  EXPECT_FALSE(judge::reads_in_flight_of(settings, far_reads())) << "two workers, one reads";
  settings.container = "files";
  settings.loader = "dali";
  EXPECT_EQ(judge::one_reader_of(settings), "--loader dali");
}

}  // namespace
}  // namespace feedrate::tests
