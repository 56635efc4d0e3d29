#include "judge/in_flight_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace feedrate::tests {
namespace {

using judge::InFlightSearch;
using judge::LoaderReads;

constexpr InFlightSearch::Limits kAll{
    .start = {.workers = 1, .depth = 1}, .most = {.workers = 64, .depth = 64}, .cpus = 2};
constexpr InFlightSearch::Limits kOneReadAWorker{
    .start = {.workers = 1, .depth = 1}, .most = {.workers = 64, .depth = 1}, .cpus = 2};

using Client = std::function<double(const LoaderReads&)>;

// A storage that answers each read after 20 ms, so many of them at once.
Client storage_of(int at_once) {
  return [=](const LoaderReads& reads) { return 50.0 * std::min(reads.count(), at_once); };
}

int climbed(InFlightSearch& search, const Client& client) {
  int runs = 0;
  while (const auto reads = search.next()) {
    search.add(*reads, client(*reads));
    if (++runs > 60) break;
  }
  return runs;
}

TEST(InFlightSearch, FindsAtLeastNineTenthsOfWhatALatencyHides) {
  for (const int at_once : {1, 2, 3, 7, 10, 16, 100, 1000, 4096}) {
    for (const auto& limits : {kAll, kOneReadAWorker}) {
      InFlightSearch search(limits);
      EXPECT_LT(climbed(search, storage_of(at_once)), 20);
      const int most = limits.most.count();
      EXPECT_GE(search.imgs_per_s(search.chosen()), 0.9 * 50 * std::min(most, at_once)) << at_once;
      EXPECT_EQ(search.more_adds_nothing(), at_once < most) << at_once;
    }
  }
}

TEST(InFlightSearch, TakesTheSmallestNumberThatGivesAsMuch) {
  InFlightSearch search(kAll);
  climbed(search, storage_of(10));
  EXPECT_EQ(search.chosen(), (LoaderReads{.workers = 1, .depth = 16}));
  InFlightSearch one_read_a_worker(kOneReadAWorker);
  climbed(one_read_a_worker, storage_of(10));
  EXPECT_EQ(one_read_a_worker.chosen(), (LoaderReads{.workers = 16, .depth = 1}));
}

TEST(InFlightSearch, WorkersAreAddedWhereADepthDoesNotHelp) {
  const Client decodes = [](const LoaderReads& reads) {
    return 100.0 * std::min(reads.workers, 8);
  };
  InFlightSearch search({kAll.start, kAll.most, 16});
  climbed(search, decodes);
  EXPECT_EQ(search.chosen(), (LoaderReads{.workers = 8, .depth = 1}));
  EXPECT_TRUE(search.more_adds_nothing());
}

TEST(InFlightSearch, MoreWorkersThanCpusHaveToGainEachTime) {
  int most = 0;
  InFlightSearch search(kOneReadAWorker);
  climbed(search, [&](const LoaderReads& reads) {
    most = std::max(most, reads.workers);
    return 100.0 * std::min(reads.workers, 2);
  });
  EXPECT_EQ(most, 4);
  EXPECT_EQ(search.chosen().workers, 2);
}

TEST(InFlightSearch, WhatWasTypedStays) {
  InFlightSearch search({{.workers = 3, .depth = 1}, {.workers = 3, .depth = 64}, 2});
  climbed(search, [](const LoaderReads& reads) {
    EXPECT_EQ(reads.workers, 3);
    return 50.0 * std::min(reads.count(), 12);
  });
  EXPECT_EQ(search.chosen(), (LoaderReads{.workers = 3, .depth = 4}));
  EXPECT_TRUE(search.more_adds_nothing());
}

TEST(InFlightSearch, OneRunThatMetAStorageWhichStoodStillChangesNothing) {
  for (const auto& limits : {kAll, kOneReadAWorker}) {
    for (int spoilt = 1; spoilt < 12; ++spoilt) {
      int run = 0;
      InFlightSearch search(limits);
      climbed(search, [&](const LoaderReads& reads) {
        return storage_of(10)(reads) * (run++ == spoilt ? 0.5 : 1);
      });
      EXPECT_GE(storage_of(10)(search.chosen()), 0.9 * 500) << spoilt;
      EXPECT_TRUE(search.more_adds_nothing());
    }
  }
}

// One doubling that gains nothing is not enough to say so, and more was refused.
TEST(InFlightSearch, ARefusalIsNoSignThatMoreAddsNothing) {
  InFlightSearch refused_depth(kAll);
  while (const auto reads = refused_depth.next()) {
    if (reads->count() > 16) {
      refused_depth.cannot(*reads);
    } else {
      refused_depth.add(*reads, storage_of(8)(*reads));
    }
  }
  EXPECT_FALSE(refused_depth.more_adds_nothing());
  // The depth is searched to its end, and the workers are refused.
  InFlightSearch refused_workers(kAll);
  while (const auto reads = refused_workers.next()) {
    if (reads->workers > 1) {
      refused_workers.cannot(*reads);
    } else {
      refused_workers.add(*reads, storage_of(2)(*reads));
    }
  }
  EXPECT_FALSE(refused_workers.more_adds_nothing());
}

TEST(InFlightSearch, StaysBelowWhatCannotBeMeasured) {
  InFlightSearch search(kAll);
  while (const auto reads = search.next()) {
    if (reads->count() > 8) {
      search.cannot(*reads);
    } else {
      search.add(*reads, storage_of(1000)(*reads));
    }
  }
  EXPECT_EQ(search.chosen().count(), 8);
  EXPECT_FALSE(search.more_adds_nothing());
}

}  // namespace
}  // namespace feedrate::tests
