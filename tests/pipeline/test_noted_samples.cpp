#include "pipeline/noted_samples.h"

#include <gmock/gmock.h>

#include <thread>

namespace feedrate::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NotedSamples, AreEachThereOnceAndInOrder) {
  pipeline::NotedSamples noted(130);
  EXPECT_THAT(noted.totals().samples, IsEmpty());
  EXPECT_TRUE(noted.totals().is_counted) << "none was met";
  for (const int sample : {129, 64, 0, 63, 64, 129}) noted.note(sample);
  EXPECT_THAT(noted.totals().samples, ElementsAre(0, 63, 64, 129));
}

TEST(NotedSamples, ThreadsLoseNone) {
  constexpr int kSamples = 1000, kThreads = 4;
  pipeline::NotedSamples noted(kSamples);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&noted, t] {
        for (int sample = t; sample < kSamples; sample += kThreads) noted.note(sample);
      });
    }
  }
  EXPECT_EQ(noted.totals().samples.size(), std::size_t{kSamples});
}

TEST(NotedTotals, ProcessesThatMetTheSamePictureMetOne) {
  pipeline::NotedTotals all;
  EXPECT_FALSE(all.is_counted);
  all += {.is_counted = true, .samples = {1, 8}};
  all += {.is_counted = true, .samples = {0, 8, 9}};
  all += {};
  EXPECT_TRUE(all.is_counted);
  EXPECT_THAT(all.samples, ElementsAre(0, 1, 8, 9));
}

}  // namespace
}  // namespace feedrate::tests
