#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "run/dataset_part.h"
#include "storage/container.h"

namespace feedrate::tests {
namespace {

using testing::ElementsAre;

// Samples of a byte each, with these labels, in the packed files of these numbers.
storage::DatasetVariant variant_of(const std::vector<std::int32_t>& labels,
                                   const std::vector<std::uint32_t>& shards = {}) {
  storage::DatasetVariant variant{.folder = "data", .container = &storage::own_files()};
  variant.manifest_xxh3 = "whole";
  for (std::size_t i = 0; i < labels.size(); ++i) {
    variant.samples.push_back({.path = std::to_string(i),
                               .label = labels[i],
                               .bytes = 1,
                               .shard = shards.empty() ? 0 : shards[i]});
  }
  if (!shards.empty()) variant.packed = {"a", "b", "c"}, variant.packed_bytes = {10, 20, 30};
  storage::sum_up(variant);
  return variant;
}

std::vector<std::string> paths_of(const storage::DatasetVariant& variant) {
  std::vector<std::string> paths;
  for (const storage::SampleFile& sample : variant.samples) paths.push_back(sample.path);
  return paths;
}

TEST(KeepPart, LeavesEachClassItsShare) {
  storage::DatasetVariant in_turn = variant_of({0, 1, 2, 0, 1, 2, 0, 1, 2});
  run::keep_part(in_turn, 3);
  EXPECT_THAT(paths_of(in_turn), ElementsAre("0", "1", "2")) << "each third is of one class";
  EXPECT_EQ(in_turn.total_bytes, 3U);
  storage::DatasetVariant by_class = variant_of({0, 0, 0, 0, 1, 1, 1, 1});
  run::keep_part(by_class, 4);
  EXPECT_THAT(paths_of(by_class), ElementsAre("0", "2", "4", "6"));
}

TEST(KeepPart, IsOtherDataAndSaysSo) {
  storage::DatasetVariant part = variant_of({0, 0, 1, 1});
  run::keep_part(part, 2);
  EXPECT_EQ(part.made.at("samples"), "2 of 4, spread over all classes");
  EXPECT_NE(part.manifest_xxh3, "whole");
  storage::DatasetVariant again = variant_of({0, 0, 1, 1});
  run::keep_part(again, 2);
  EXPECT_EQ(again.manifest_xxh3, part.manifest_xxh3);
  storage::DatasetVariant other = variant_of({0, 0, 1, 1});
  run::keep_part(other, 3);
  EXPECT_NE(other.manifest_xxh3, part.manifest_xxh3);
}

TEST(KeepPart, OfFewerSamplesThanClassesSaysOfHowManyClasses) {
  storage::DatasetVariant part = variant_of({0, 0, 1, 1, 2, 2});
  run::keep_part(part, 2);
  EXPECT_EQ(part.made.at("samples"), "2 of 6, of 2 of 3 classes");
  storage::DatasetVariant rare = variant_of({0, 0, 0, 0, 0, 0, 0, 1});
  run::keep_part(rare, 4);
  EXPECT_EQ(rare.made.at("samples"), "4 of 8, of 1 of 2 classes") << "each fourth is of class 0";
}

TEST(KeepPart, OfAllIsTheDatasetItself) {
  for (const std::size_t kept : {0U, 4U, 5U}) {
    storage::DatasetVariant whole = variant_of({0, 0, 1, 1});
    run::keep_part(whole, kept);
    EXPECT_EQ(whole.samples.size(), 4U);
    EXPECT_EQ(whole.manifest_xxh3, "whole");
    EXPECT_FALSE(whole.made.contains("samples"));
  }
}

TEST(KeepPart, LeavesOutFilesThatHoldNoneOfIt) {
  storage::DatasetVariant part = variant_of({0, 0, 0, 0, 0, 0}, {0, 0, 1, 1, 2, 2});
  run::keep_part(part, 2);
  EXPECT_THAT(paths_of(part), ElementsAre("0", "3"));
  EXPECT_THAT(part.packed, ElementsAre("a", "b"));
  EXPECT_THAT(part.packed_bytes, ElementsAre(10U, 20U));
  storage::DatasetVariant last = variant_of({0, 1, 1, 1, 1, 1}, {1, 2, 2, 2, 2, 2});
  run::keep_part(last, 2);
  EXPECT_THAT(last.packed, ElementsAre("b", "c"));
  EXPECT_EQ(last.samples[0].shard, 0U);
  EXPECT_EQ(last.samples[1].shard, 1U);
}

TEST(KeepPart, RefusesAContainerThatIsReadWhole) {
  storage::DatasetVariant variant = variant_of({0, 0, 1, 1});
  variant.container = storage::find_container("hdf5");
  EXPECT_THROW(run::keep_part(variant, 2), UsageError);
}

}  // namespace
}  // namespace feedrate::tests
