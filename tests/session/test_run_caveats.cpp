#include "session/run_caveats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace feedrate::tests {
namespace {

using judge::Severity;

ledger::Record seen_record(const run::PageCache& cache, std::vector<judge::Flag> flags = {}) {
  ledger::Record record;
  record.result.measurement.emplace().page_cache = cache;
  record.flags = std::move(flags);
  return record;
}

std::vector<std::string> reasons(const session::RunCaveats& seen) {
  std::vector<std::string> all;
  for (const judge::Flag& flag : seen.flags()) all.push_back(flag.reason);
  return all;
}

TEST(RunCaveats, NamesEachStateOfThePageCacheOnce) {
  session::RunCaveats seen;
  EXPECT_EQ(seen.page_cache(), "");
  seen.add(seen_record({}), "1 GPU");
  EXPECT_EQ(seen.page_cache(), "") << "no files were read";
  const run::PageCache warm{.state = "warm", .before = 1};
  for (int i = 0; i < 2; ++i) seen.add(seen_record(warm), "1 GPU");
  EXPECT_EQ(seen.page_cache(), "warm");
  seen.add(seen_record({.state = "bypassed"}), "2 GPUs");
  EXPECT_EQ(seen.page_cache(), "bypassed, warm");
}

// Was it the page cache that was measured, or the storage?
TEST(RunCaveats, OfAPageCacheAsItIsSaysHowMuchLayInIt) {
  session::RunCaveats seen;
  seen.add(seen_record({.state = "as-is", .before = -1}), "1 GPU");
  EXPECT_EQ(seen.page_cache(), "as-is");
  seen.add(seen_record({.state = "as-is", .before = 0.98}), "1 GPU");
  EXPECT_EQ(seen.page_cache(), "as-is: 98.0 % of it in memory at the start");
  seen.add(seen_record({.state = "as-is", .before = 0.25}), "1 GPU");
  EXPECT_EQ(seen.page_cache(), "as-is: 25.0 to 98.0 % of it in memory at the start");
}

TEST(RunCaveats, KeepsEachFlagOnceWithTheWorstRunsReason) {
  const auto stolen = [](Severity severity, const char* reason) {
    return judge::Flag{"cpu_steal", severity, reason, "ask for a machine of your own"};
  };
  session::RunCaveats first, second;
  first.add(seen_record({}, {stolen(Severity::note, "1 %")}), "job 1");
  first.add(seen_record({}, {stolen(Severity::note, "2 %")}), "job 2");
  EXPECT_EQ(reasons(first), (std::vector<std::string>{"1 % (job 1)"}));
  second.add(seen_record({}, {stolen(Severity::warning, "9 %")}), "job 3");
  first.add(second);
  EXPECT_EQ(reasons(first), (std::vector<std::string>{"9 % (job 3)"}));
  first.add(seen_record({}, {{"cpu_steal", Severity::note, "another", "another remedy"}}), "job 4");
  EXPECT_EQ(first.flags().size(), 2u) << "rules that share a name have remedies of their own";
}

TEST(RunCaveats, CountsTheRunsThatRaisedAFlag) {
  const auto stolen = [](double figure) {
    return judge::Flag{"cpu_steal", Severity::warning, "some", "wait", figure};
  };
  session::RunCaveats seen, more;
  seen.add(seen_record({}, {stolen(0.03), stolen(0.02)}), "1 GPU");  // of two machines
  seen.add(seen_record({}), "2 GPUs");
  more.add(seen_record({}, {stolen(0.09)}), "3 GPUs");
  seen.add(more);
  EXPECT_EQ(seen.runs(), 3);
  ASSERT_EQ(seen.raised().size(), 1u);
  EXPECT_EQ(seen.raised().front().runs, 2);
  EXPECT_EQ(seen.raised().front().flag.figure, 0.09);
  EXPECT_EQ(seen.raised().front().flag.reason, "some (3 GPUs)") << "the worst one's";
}

// As of the rounds of a diagnosis.
TEST(RaisedFlags, OfRunsThatAreEquallyBadHaveTheFirstOnesReason) {
  std::vector<judge::RaisedFlag> raised;
  judge::add_run(raised, {{"stopped", Severity::serious, "rung", ""}});
  judge::add_run(raised, {{"stopped", Severity::serious, "blocks", ""},
                          {"stopped", Severity::serious, "blocks again", ""}});
  judge::add_run(raised, {});
  ASSERT_EQ(raised.size(), 1u);
  EXPECT_EQ(raised[0].flag.reason, "rung");
  EXPECT_EQ(raised[0].runs, 2);
}

TEST(RunCaveats, LeavesOutWhatTheRatesAreCorrectedFor) {
  const ledger::Record record = seen_record({}, {{"queue_not_at_rest", Severity::warning, "", ""}});
  session::RunCaveats corrected{"short_window", "queue_not_at_rest"}, other;
  corrected.add(record, "1 GPU"), other.add(record, "1 GPU");
  EXPECT_TRUE(corrected.flags().empty());
  EXPECT_EQ(other.flags().size(), 1u);
}

}  // namespace
}  // namespace feedrate::tests
