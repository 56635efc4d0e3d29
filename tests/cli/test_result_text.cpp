#include "cli/result_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/record/made_up_results.h"
#include "tests/run/made_up_rank.h"

namespace feedrate::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

run::RankResult rank_that_read() {
  run::RankResult rank = rank_of(0, 41);
  rank.stages[measure::Stage::read] = {1, 1, 8, 2'000'000};
  rank.host.storage_read_bytes = 2'100'000;
  return rank;
}

std::string shown_of(const run::PageCache& cache, const run::RankResult& rank = rank_that_read()) {
  const plan::AxisValues axes = {
      {"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"batch-size", {"8"}}};
  run::CellResult result = result_of(axes, {.ranks = {rank}, .page_cache = cache});
  const plan::Cell cell = result.cell;
  return cli::result_text(
      record::make_record(std::move(result), {plan::PlannedRun{cell}, 0, {}, {}, {}}, {}), "jpeg");
}

TEST(ResultText, SaysWhatIsKnownOfThePageCache) {
  const run::PageCache cold{.state = "cold",
                            .before = 0,
                            .look = {"cachestat", 64, 64, 0},
                            .method = "drop_caches",
                            .scope = "host"};
  EXPECT_THAT(shown_of(cold),
              HasSubstr("page cache cold (drop_caches): 0.0 % of it in memory at the start "
                        "(cachestat, 64 of 64 files); 2.1 MB came from storage, 2.0 MB were read"));
  EXPECT_THAT(shown_of({.state = "warm", .before = -1}),
              HasSubstr("page cache warm; 2.1 MB came from storage"));
  EXPECT_THAT(shown_of({}), Not(HasSubstr("page cache"))) << "no files are read";
  EXPECT_THAT(
      shown_of({.state = "bypassed", .before = 0.983, .look = {"cachestat", 64, 64, 0}}),
      HasSubstr("page cache bypassed: reads went past it; 98.3 % of the files lay in it at the "
                "start (cachestat, 64 of 64 files); 2.1 MB came from storage"));
}

TEST(ResultText, NamesTheRemedyWhereTheKernelPinsMemoryForEachRead) {
  run::RankResult rank = rank_that_read();
  rank.latencies.reads.counts[77] = 1'500;
  EXPECT_THAT(shown_of({}, rank), Not(HasSubstr("ulimit")));
  rank.latencies.unregistered = 1'200;
  EXPECT_THAT(shown_of({}, rank),
              HasSubstr("p99.9; for 80.0 % of them the kernel pinned memory anew, which takes CPU "
                        "time: allow this user to lock more (`ulimit -l`)"));
}

TEST(ResultText, SaysHowManyReadsWereSeenLateAndNoPercentileThatTheyHide) {
  run::RankResult rank = rank_of(0, 41);
  rank.latencies.reads.counts[77] = 480;
  EXPECT_THAT(shown_of({}, rank), Not(HasSubstr("seen late")));
  rank.latencies.seen_late = 20;
  EXPECT_THAT(shown_of({}, rank),
              HasSubstr("each 0.000 ms median, - p99, - p99.9; 4.0 % were seen late, by workers "
                        "that did other things: how long they took is unknown"));
}

TEST(ResultText, WhereAServerHasTheFilesOnlyTheClientIsCold) {
  const std::string text = shown_of({.state = "cold",
                                     .before = 0,
                                     .method = "fadvise",
                                     .scope = "client",
                                     .file_system = "nfs4"});
  EXPECT_THAT(text, HasSubstr("page cache client-cold (fadvise): 0.0 %"));
  EXPECT_THAT(text, HasSubstr("what the server or program behind nfs4 keeps in a cache of its own "
                              "is unknown"));
}

}  // namespace
}  // namespace feedrate::tests
