#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/error.h"
#include "pipeline/sampler.h"

namespace feedrate::tests {
namespace {

TEST(Sampler, AnEpochIsAPermutation) {
  for (const std::int64_t size : {1, 2, 3, 5, 64, 100, 1023, 1025}) {
    const pipeline::Sampler sampler(size, 7, 0, 1);
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
      std::set<std::int64_t> seen;
      for (std::int64_t i = 0; i < size; ++i) {
        const pipeline::Draw draw = sampler.at(epoch * size + i);
        EXPECT_EQ(draw.epoch, epoch);
        EXPECT_GE(draw.sample, 0);
        EXPECT_LT(draw.sample, size);
        seen.insert(draw.sample);
      }
      EXPECT_EQ(static_cast<std::int64_t>(seen.size()), size)
          << "size " << size << " epoch " << epoch;
    }
  }
}

TEST(Sampler, ShardsDoNotOverlapAndAreEquallyLong) {
  constexpr std::int64_t kSize = 1000;
  constexpr int kWorld = 7;
  std::set<std::int64_t> seen;
  for (int rank = 0; rank < kWorld; ++rank) {
    const pipeline::Sampler sampler(kSize, 3, rank, kWorld);
    EXPECT_EQ(sampler.samples_per_epoch(), kSize / kWorld);
    for (std::int64_t i = 0; i < sampler.samples_per_epoch(); ++i) {
      EXPECT_TRUE(seen.insert(sampler.at(i).sample).second)
          << "rank " << rank << " repeats a sample";
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(seen.size()), kSize / kWorld * kWorld);
}

TEST(Sampler, EpochsAndSeedsDiffer) {
  const pipeline::Sampler a(1000, 1, 0, 1), b(1000, 2, 0, 1);
  int same_epoch = 0, same_seed = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    same_epoch += a.at(i).sample == a.at(1000 + i).sample;
    same_seed += a.at(i).sample == b.at(i).sample;
  }
  EXPECT_LT(same_epoch, 20);
  EXPECT_LT(same_seed, 20);
}

// The order must be well mixed: neighbours in the stream are no neighbours in the dataset.
TEST(Sampler, NeighboursAreScattered) {
  const pipeline::Sampler sampler(4096, 5, 0, 1);
  double distance = 0;
  for (std::int64_t i = 0; i + 1 < 4096; ++i)
    distance += std::abs(double(sampler.at(i).sample - sampler.at(i + 1).sample));
  EXPECT_NEAR(distance / 4095, 4096 / 3.0, 4096 / 30.0);
}

TEST(Sampler, TheSameSampleIsAugmentedAnewEachEpoch) {
  const pipeline::Sampler sampler(10, 1, 0, 1);
  std::map<std::int64_t, std::set<std::uint64_t>> seeds;
  for (std::int64_t i = 0; i < 50; ++i)
    seeds[sampler.at(i).sample].insert(sampler.at(i).augment_seed);
  for (const auto& [sample, set] : seeds) EXPECT_EQ(set.size(), 5u) << sample;
}

TEST(Sampler, SequentialRanksReadStretchesOfTheDatasetInItsOrder) {
  for (int rank = 0; rank < 3; ++rank) {
    const pipeline::Sampler sampler(100, 1, rank, 3, {.order = pipeline::Order::sequential});
    for (std::int64_t i = 0; i < 66; ++i) EXPECT_EQ(sampler.at(i).sample, rank * 33 + i % 33);
  }
}

TEST(Sampler, ByShardReadsEachShardFromItsBeginningToItsEndInAnOrderOfTheEpochsOwn) {
  const std::vector<std::int64_t> first = {0, 7, 8, 20, 50};
  const pipeline::Sampler sampler(64, 1, 0, 1, {pipeline::Order::by_shard, first});
  std::set<std::vector<std::int64_t>> orders;
  for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
    std::vector<std::int64_t> shards, all;
    for (std::int64_t i = 0; i < 64; ++i) {
      const std::int64_t sample = sampler.at(epoch * 64 + i).sample;
      const bool begins = std::ranges::find(first, sample) != first.end();
      if (begins) shards.push_back(sample);
      if (!begins) {
        EXPECT_EQ(sample, all.back() + 1);
      }
      all.push_back(sample);
    }
    std::ranges::sort(all);
    for (std::int64_t i = 0; i < 64; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
    orders.insert(shards);
  }
  EXPECT_GT(orders.size(), 10u);
  EXPECT_EQ(sampler.at(70).sample, sampler.at(70).sample) << "an earlier epoch, asked for again";
}

TEST(Sampler, MoreGpusThanSamplesIsRefused) { EXPECT_THROW(pipeline::Sampler(3, 0, 0, 4), Error); }

}  // namespace
}  // namespace feedrate::tests
