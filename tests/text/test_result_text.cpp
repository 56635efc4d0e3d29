#include "text/result_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "plan/expand.h"
#include "tests/ledger/made_up_results.h"
#include "tests/run/made_up_rank.h"

namespace feedrate::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

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
  return text::result_text(
      ledger::make_record(std::move(result), {plan::PlannedRun{cell}, 0, {}, {}, {}}, {}), "jpeg");
}

// A read of a shard is no file.
TEST(ResultText, CountsFilesOnlyWhereEachSampleIsOne) {
  run::RankResult rank = rank_that_read();
  rank.latencies.reads.counts[measure::latency_bucket(80'000)] = 9;
  EXPECT_THAT(shown_of({.state = "warm", .before = 1}, rank), HasSubstr(" files/s, "));
  plan::CellSettings settings;
  settings.container = "webdataset";
  EXPECT_STREQ(text::read_things(settings), "samples");
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

TEST(ResultText, SaysOfWhichFormatsPicturesAre) {
  const auto shown = [](const char* data) {
    const plan::AxisValues axes = {{"device", {"emulated:1000"}},
                                   {"data", {data}},
                                   {"image-size", {"mixed"}},
                                   {"batch-size", {"8"}}};
    run::CellResult result = result_of(axes, {.ranks = {rank_that_read()}});
    const plan::Cell cell = result.cell;
    storage::DatasetVariant own;
    own.made = {{"formats", "jpeg 63, png 1"}};
    result.dataset = std::make_shared<const storage::DatasetVariant>(std::move(own));
    return text::result_text(
        ledger::make_record(std::move(result), {plan::PlannedRun{cell}, 0, {}, {}, {}}, {}), data);
  };
  EXPECT_THAT(shown("auto"), HasSubstr("pictures   jpeg 63, png 1, by their names"));
  EXPECT_THAT(shown("jpeg"), Not(HasSubstr("by their names")));
}

TEST(ResultText, SaysHowAFolderOfManyFilesWasListed) {
  const auto shown = [](storage::HowListed listed, std::optional<double> first_batch_s) {
    run::CellResult result =
        result_of({{"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"batch-size", {"8"}}},
                  {.ranks = {rank_that_read()}});
    const plan::Cell cell = result.cell;
    result.listed = std::move(listed);
    result.first_batch_s = first_batch_s;
    const ledger::Record record =
        ledger::make_record(std::move(result), {plan::PlannedRun{cell}, 0, {}, {}, {}}, {});
    const std::vector<ledger::Record> all = {record};
    const std::string line = text::result_text(record, "jpeg");
    const bool is_summed_up = text::result_summary(all, "jpeg", "").find("listing") != line.npos;
    EXPECT_EQ(is_summed_up, line.find("listing") != line.npos);
    return line;
  };
  EXPECT_THAT(
      shown({.seconds = 41, .text = "listed 9 files in 41 s"}, 3.14),
      HasSubstr("listing    listed 9 files in 41 s; first batch 3.1 s after the run began"));
  EXPECT_THAT(shown({.seconds = 41, .text = "listed 9 files in 41 s"}, std::nullopt),
              HasSubstr("listing    listed 9 files in 41 s\n"));
  EXPECT_THAT(shown({.seconds = 0.1}, 3.14), Not(HasSubstr("listing")));
}

ledger::Record summary_record(std::optional<double> ceiling) {
  const plan::AxisValues axes = {
      {"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"batch-size", {"8"}}};
  run::CellResult result = result_of(axes, {.ranks = {rank_that_read()}});
  const plan::Cell cell = result.cell;
  std::optional<judge::Ceiling> of;
  if (ceiling) of = judge::Ceiling{*ceiling, {}};
  ledger::Record record = ledger::make_record(
      std::move(result), {plan::PlannedRun{cell, plan::Role::cell}, 0, of, {}, {}}, {});
  record.flags.clear();
  return record;
}

TEST(ResultSummary, IsFiveLinesBelowATitle) {
  const std::vector<ledger::Record> one = {summary_record(1e6)};
  const std::string text = text::result_summary(one, "jpeg", "R/ledger.jsonl");
  EXPECT_EQ(std::ranges::count(text, '\n'), 6) << text;
  for (const char* line : {"\n  throughput ", "\n  device ", "\n  verdict ", "\n  advice ",
                           "\n  record     R/ledger.jsonl; "})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text, HasSubstr(" % of the ceiling (1,000,000 img/s, in a run of its own)"));
  EXPECT_THAT(text::result_summary(one, "jpeg", ""), HasSubstr("record     not kept (-o DIR"));
}

TEST(ResultSummary, HasAnIntervalFromThreeRepetitionsOn) {
  std::vector<ledger::Record> records(2, summary_record(1e6));
  EXPECT_THAT(text::result_summary(records, "jpeg", ""),
              AllOf(HasSubstr("(2 repetitions; three give an interval)"), Not(HasSubstr("95 %"))));
  records.push_back(summary_record(1e6));
  EXPECT_THAT(text::result_summary(records, "jpeg", ""),
              AllOf(HasSubstr(" img/s, "), HasSubstr(" (95 %: "), HasSubstr("(3 repetitions)")));
  records[1].result.measurement.reset();
  EXPECT_THAT(text::result_summary(records, "jpeg", ""), HasSubstr("(2 repetitions;"))
      << "one of them failed";
}

TEST(ResultSummary, AdviceIsTheRemedyOfWhatMayNotBeQuoted) {
  ledger::Record record = summary_record(1e6);
  record.flags.push_back({.name = "harness_bound",
                          .severity = judge::Severity::serious,
                          .reason = "why",
                          .remedy = "do this"});
  record.flags.push_back({.name = "cpu_steal", .severity = judge::Severity::warning});
  const std::string text = text::result_summary(std::vector{record}, "jpeg", "");
  EXPECT_THAT(text, HasSubstr("advice     do this\n")) << "what it is for, the first line says";
  EXPECT_THAT(text, HasSubstr("warnings   cpu_steal (--verbose explains)\n"));
}

TEST(ResultSummary, StrayBytesAreALineOfTheirOwn) {
  ledger::Record record = summary_record(1e6);
  EXPECT_THAT(text::result_summary(std::vector{record}, "jpeg", ""), Not(HasSubstr("\n  note")));
  record.flags.push_back({.name = "stray_bytes",
                          .severity = judge::Severity::note,
                          .reason = "3 pictures hold stray bytes; they decode as in Pillow",
                          .remedy = "`feedrate verify DIR` names them"});
  EXPECT_THAT(text::result_summary(std::vector{record}, "jpeg", ""),
              HasSubstr("\n  note       3 pictures hold stray bytes; they decode as in Pillow "
                        "(`feedrate verify DIR` names them)\n"));
  record.result.measurement->stray_pictures = 3;
  EXPECT_THAT(text::result_summary(std::vector{record, summary_record(1e6)}, "jpeg", ""),
              HasSubstr("\n  note       3 pictures hold stray bytes"))
      << "the last run met none";
}

TEST(ResultSummary, OneRunThatMayNotBeQuotedIsTold) {
  std::vector<ledger::Record> records(3, summary_record(1e6));
  records[0].flags.push_back({.name = "stopped",
                              .severity = judge::Severity::serious,
                              .reason = "for 1.2 s",
                              .remedy = "measure again"});
  const std::string text = text::runs_text(records, "", /*verbose=*/false);
  EXPECT_THAT(text, StartsWith("DO NOT QUOTE: stopped in 1 of 3 runs (for 1.2 s (repetition 1))"));
  EXPECT_THAT(text, HasSubstr("advice     measure again\n"));
  EXPECT_THAT(text, HasSubstr("device     in the last repetition: "));
}

TEST(ResultSummary, AdviceFollowsTheVerdict) {
  ledger::Record record = summary_record(std::nullopt);
  record.verdict->band = judge::Band::moderately;
  EXPECT_THAT(text::result_summary(std::vector{record}, "jpeg", ""),
              HasSubstr("advice     `feedrate diagnose` says what would help, and by how much\n"));
  record.verdict->band = judge::Band::not_bound;
  EXPECT_THAT(text::result_summary(std::vector{record}, "jpeg", ""), HasSubstr("--no-ceiling"));
  record = summary_record(1e6);
  record.verdict->band = judge::Band::not_bound;
  EXPECT_THAT(text::result_summary(std::vector{record}, "jpeg", ""), HasSubstr("little to gain"));
  record.verdict->band = judge::Band::unknown;
  EXPECT_THAT(text::result_summary(std::vector{record}, "jpeg", ""), HasSubstr("measure longer"));
}

// A sweep says once which devices its cells are on, and where they differ each line does.
TEST(EmulationLines, SayWhoseRateEachDeviceHas) {
  const auto cells_with = [](const plan::AxisValues& axes) {
    plan::AxisValues all = axes;
    all.insert({{"data", {"jpeg"}}, {"workers", {"1", "2"}}});
    return plan::expand(all);
  };
  EXPECT_EQ(text::emulation_lines(cells_with({{"device", {"emulated:h200"}}})),
            "NVIDIA H200, PyTorch's published 3,079 img/s (EMULATED): emulation not yet compared "
            "with a GPU\n")
      << "once for both cells";
  EXPECT_EQ(text::emulation_lines(
                cells_with({{"device", {"emulated:h200-mlperf", "cpu", "emulated:5"}}})),
            "NVIDIA H200, MLPerf's 7,950 img/s (EMULATED): emulation not yet compared with a GPU\n"
            "5 img/s (EMULATED): emulation not yet compared with a GPU\n");
  EXPECT_EQ(text::emulation_lines(cells_with({{"device", {"cpu"}}})), "");
}

TEST(LabelWithDevice, NamesDeviceAndRate) {
  const auto label_of = [](const char* device, const char* size) {
    return text::label_with_device(
        plan::expand({{"device", {device}}, {"data", {"jpeg"}}, {"input-size", {size}}}).front());
  };
  EXPECT_EQ(label_of("emulated:h200", "224").find("h200 (3,079 img/s), jpeg 224x224, "), 0u);
  EXPECT_EQ(label_of("emulated:h200", "448").find("h200 (770 img/s, scaled), jpeg "), 0u);
  EXPECT_EQ(label_of("emulated:500", "224").find("500 img/s, jpeg "), 0u);
  EXPECT_EQ(label_of("emulated:inf", "224").find("any rate, jpeg "), 0u);
  EXPECT_EQ(label_of("cpu", "224").find("cpu, jpeg "), 0u);
  // The trace that a record names by its content is on another machine.
  plan::Cell elsewhere = plan::expand({{"device", {"emulated:1"}}, {"data", {"jpeg"}}}).front();
  elsewhere.set("device", "emulated:trace=0123456789abcdef");
  EXPECT_EQ(text::label_with_device(elsewhere).find("emulated:trace=0123456789abcdef, jpeg "), 0u);
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
