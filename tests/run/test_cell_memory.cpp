#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "plan/expand.h"
#include "run/cell_memory.h"

namespace feedrate::tests {
namespace {

constexpr double kSamples = 1000;
constexpr double kFiles = 1e8;  // bytes

plan::CellSettings settings(const char* cache, plan::AxisValues values) {
  values.insert({"device", {"emulated:100"}});
  values.insert({"data", {"jpeg"}});
  values.insert({"cache", {cache}});
  return plan::settings_of(plan::expand(values).at(0));
}
storage::DatasetVariant dataset() {
  storage::DatasetVariant variant;
  variant.samples.resize(static_cast<std::size_t>(kSamples));
  variant.total_bytes = static_cast<std::uint64_t>(kFiles);
  variant.largest_bytes = 200'000;
  return variant;
}
// What the cache adds to the cell without one.
double of_cache(const char* cache, const plan::AxisValues& values, int gpus = 1,
                bool apart = false) {
  const storage::DatasetVariant variant = dataset();
  return run::bytes_held(settings(cache, values), variant, gpus, apart) -
         run::bytes_held(settings("none", values), variant, gpus, apart);
}

TEST(CellMemory, DecodedPicturesTakeThreeBytesAPixel) {
  const plan::AxisValues pictures{{"image-size", {"500x375"}}, {"gpus", {"2"}}};
  constexpr double kPixels = 500 * 375;
  EXPECT_DOUBLE_EQ(of_cache("decoded", pictures), kSamples * 3 * kPixels);
  EXPECT_DOUBLE_EQ(of_cache("decoded", pictures, 2, false), kSamples * 3 * kPixels)
      << "threads share them";
  EXPECT_DOUBLE_EQ(of_cache("decoded", pictures, 2, true), 2 * kSamples * 3 * kPixels);
  EXPECT_DOUBLE_EQ(of_cache("encoded", pictures), kFiles);
  EXPECT_DOUBLE_EQ(of_cache("sample", pictures), kSamples * 3 * 224 * 224);
  EXPECT_DOUBLE_EQ(of_cache("discard", pictures), 0);
}

TEST(CellMemory, TheCeilingsBatchesLieInTheMemoryOfACpu) {
  const auto more = [](const char* batch, int gpus) {
    const plan::AxisValues values{{"batch-size", {batch}}};
    plan::CellSettings cpu = settings("none", values), other = cpu;
    cpu.device_kind = "cpu", other.device_kind = "cuda";
    return run::bytes_held(cpu, dataset(), gpus, false) -
           run::bytes_held(other, dataset(), gpus, false);
  };
  EXPECT_DOUBLE_EQ(more("8", 1), 4.0 * 8 * 3 * 224 * 224 * 4);
  EXPECT_DOUBLE_EQ(more("8", 2), 2 * more("8", 1));
  EXPECT_DOUBLE_EQ(more("1024", 1), 1 << 30);
}

TEST(CellMemory, OfManySizesTheyTakeAtLeastWhatTheFilesShow) {
  EXPECT_DOUBLE_EQ(of_cache("decoded", {{"image-size", {"mixed"}}}), 3 * kFiles);
  EXPECT_DOUBLE_EQ(of_cache("decoded", {{"image-size", {"mixed"}}, {"data", {"png"}}}), kFiles);
}

TEST(CellMemory, MoreThanThereIsIsRefusedBeforeTheRun) {
  storage::DatasetVariant variant = dataset();
  variant.samples.resize(100'000);
  const plan::AxisValues huge{{"image-size", {"4096"}}};  // 5 TB
  EXPECT_NO_THROW(run::check_memory(settings("none", huge), variant, 1, false));
  EXPECT_THAT([&] { run::check_memory(settings("decoded", huge), variant, 1, false); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("memory: the cell needs")));
}

}  // namespace
}  // namespace feedrate::tests
