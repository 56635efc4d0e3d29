#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "plan/expand.h"
#include "run/measurement.h"
#include "run/wire.h"
#include "tests/mutated.h"
#include "tests/run/made_up_rank.h"

namespace feedrate::tests {
namespace {

TEST(Wire, BringsBackWhatWasSent) {
  run::RankResult rank = rank_of(2);
  rank.drawn_from_queue = 0.1 + 0.2;
  rank.stages[measure::Stage::decode] = {1, 2, 3, 4};
  rank.arrivals = {.batches = 5, .busy_ns = 6, .decoded = {7, 8, 9}};
  rank.latencies.reads.counts[77] = 5;
  rank.latencies.opens.counts.back() = 6;
  rank.latencies.seen_late = 3;
  rank.latencies.unregistered = 4;
  rank.gpu.push_back({1, {.power_w = 3.5, .throttle_reasons = ~std::uint64_t{0}}});
  rank.gpu_problem = "none";
  rank.host_series.push_back({3, {.cpu_busy = 0.25, .cpu_mhz = 2500}});
  rank.storage_counters = {{"loop0", 0, 4096}};
  rank.blocks.push_back(
      {.block = 3, .first = 2, .last = 5, .made = 7, .extra_reads = 2, .made_in_s = 0.5});
  rank.blocks[0].stages[measure::Stage::augment] = {5, 6, 7, 8};
  const run::RankAnswer answer{
      .ranks = {rank, rank_of(3)},
      .bad =
          {.count = 2, .drawn = 70, .of = 9, .pictures = {3, 5}, .named = {{3, "a \"bad\" file"}}},
      .stray_bytes = {.is_counted = true, .samples = {2, 4}},
      .page_cache = {.state = "warm", .before = 0.5, .look = {"mincore", 3, 4}, .loops = "loop0"},
      .trace = {7, "it is full"}};
  const run::RankAnswer answer_back = run::answer_from(run::to_text(answer));
  EXPECT_EQ(run::to_text(answer_back), run::to_text(answer));
  EXPECT_EQ(answer_back.ranks.size(), 2u);
  EXPECT_EQ(answer_back.bad.pictures, answer.bad.pictures);
  EXPECT_EQ(answer_back.bad.named, answer.bad.named);
  EXPECT_EQ(answer_back.bad.different_drawn(), 9);
  EXPECT_TRUE(answer_back.stray_bytes.is_counted);
  EXPECT_EQ(answer_back.stray_bytes.samples, answer.stray_bytes.samples);
  EXPECT_EQ(answer_back.page_cache.before, 0.5);
  EXPECT_EQ(answer_back.page_cache.look.of, 4);
  EXPECT_EQ(answer_back.page_cache.loops, "loop0");
  EXPECT_EQ(answer_back.trace.left_out, 7);
  EXPECT_EQ(answer_back.trace.problem, "it is full");
  const run::RankResult& back = answer_back.ranks[0];
  EXPECT_EQ(back.steps.size(), 10u);
  EXPECT_TRUE(std::isnan(back.steps[3].loss));
  EXPECT_EQ(back.steps[3].sync_ns, 2 * kMs);
  EXPECT_EQ(back.drawn_from_queue, rank.drawn_from_queue) << "to the last bit";
  EXPECT_EQ(back.stages[measure::Stage::decode].bytes, 4);
  EXPECT_EQ(back.arrivals.decoded.host, 9);
  EXPECT_EQ(back.latencies.reads.counts, rank.latencies.reads.counts);
  EXPECT_EQ(back.latencies.opens.counts, rank.latencies.opens.counts);
  EXPECT_EQ(back.latencies.seen_late, 3);
  EXPECT_EQ(back.latencies.unregistered, 4);
  EXPECT_EQ(back.host_series[0].use.cpu_mhz, 2500);
  EXPECT_EQ(back.storage_counters[0].read_bytes, 4096);
  EXPECT_EQ(back.gpu[0].state.throttle_reasons, ~std::uint64_t{0});
  EXPECT_EQ(back.place.cpus, rank.place.cpus);
  ASSERT_EQ(back.blocks.size(), 1u);
  EXPECT_EQ(back.blocks[0].block, 3);
  EXPECT_EQ(back.blocks[0].first, 2);
  EXPECT_EQ(back.blocks[0].last, 5);
  EXPECT_EQ(back.blocks[0].made, 7);
  EXPECT_EQ(back.blocks[0].extra_reads, 2);
  EXPECT_EQ(back.blocks[0].made_in_s, 0.5);
  EXPECT_EQ(back.blocks[0].stages[measure::Stage::augment].bytes, 8);

  run::RankOrder order{
      .cell = plan::expand({{"device", {"emulated:1000"}}, {"gpus", {"2"}}}).at(0),
      .manifest = "abc",
      .work = run::Work::copy,
      .keeps_device = false,
      .copy_to = "/there",
      .most_bytes = 5,
      .precision = "bf16",
      .step = {.batch_norm = "fused",
               .cudnn_tries_all = true,
               .cuda_graph = true,
               .memset_kernels = true},
      .open_step = {"cuda-graph"},
      .qualify = {.asks_rates = true, .known = {{.axis = "optimizer", .verdict = "failed"}}}};
  order.options = {.data = "/some where",
                   .limits = {.min_steps = 7, .min_seconds = 0.1},
                   .samples = 12,
                   .relist = true,
                   .listing_run = "0123abcd",
                   .seed = ~std::uint64_t{0},
                   .outputs = 21'841,
                   .plant = true,
                   .pairs_seed = 3,
                   .appointment = {5, 6},
                   .trace = "/there/trace.json",
                   .trace_operators = true};
  order.options.planted[1].ns = 42;
  order.options.planted_delays[2] = 43;
  order.options.blocks = {.blocks = {{measure::Place::copy, {44, false}},
                                     {measure::Place::worker, {45, true}},
                                     {measure::Place::storage, {.reads = 0.2}},
                                     {measure::Place::in_flight, {.withheld = 0.25}}},
                          .seconds = 0.25,
                          .least_steps = 9};
  const run::RankOrder order_back = run::order_from(run::to_text(order));
  EXPECT_EQ(run::to_text(order_back), run::to_text(order));
  EXPECT_EQ(order_back.cell.id(), order.cell.id());
  EXPECT_FALSE(order_back.keeps_device);
  EXPECT_EQ(order_back.settings().precision, "bf16");
  EXPECT_EQ(order_back.settings().step, order.step);
  EXPECT_EQ(order_back.settings().open_step, order.open_step);
  EXPECT_EQ(order_back.qualify.known.at(0).verdict, "failed");
  EXPECT_EQ(order_back.options.samples, 12u);
  EXPECT_TRUE(order_back.options.relist);
  EXPECT_EQ(order_back.options.listing_run, "0123abcd");
  EXPECT_EQ(order_back.options.seed, ~std::uint64_t{0});
  EXPECT_EQ(order_back.options.outputs, 21'841);
  EXPECT_EQ(order_back.options.pairs_seed, 3u);
  EXPECT_EQ(order_back.options.planted[1].ns, 42);
  EXPECT_EQ(order_back.options.planted_delays[2], 43);
  EXPECT_EQ(order_back.options.blocks.seconds, 0.25);
  EXPECT_EQ(order_back.options.blocks.least_steps, 9);
  ASSERT_EQ(order_back.options.blocks.blocks.size(), 4u);
  EXPECT_EQ(order_back.options.blocks.blocks[3].delay.withheld, 0.25);
  EXPECT_EQ(order_back.options.blocks.blocks[2].delay.reads, 0.2);
  EXPECT_EQ(order_back.options.blocks.blocks[0].place, measure::Place::copy);
  EXPECT_EQ(order_back.options.blocks.blocks[0].delay.ns, 44);
  EXPECT_FALSE(order_back.options.blocks.blocks[0].delay.burns);
  EXPECT_TRUE(order_back.options.blocks.blocks[1].delay.burns);
  EXPECT_EQ(order_back.options.appointment.leaves_ns, 6);
  EXPECT_EQ(order_back.options.trace, "/there/trace.json");
  EXPECT_TRUE(order_back.options.trace_operators);
  EXPECT_EQ(order_back.work, run::Work::copy);
  EXPECT_EQ(order_back.copy_to, "/there");
  EXPECT_EQ(order_back.most_bytes, 5u);

  const run::ListingNews news = run::listing_news_from(run::to_text(run::ListingNews{7, "a\nb"}));
  EXPECT_EQ(news.files, 7u);
  EXPECT_EQ(news.note, "a?b") << "of one line";
  const run::ListingNews listed = run::listing_news_from(
      run::to_text(run::ListingNews{.listed_s = 41.5, .how = "listed\n9 files"}));
  EXPECT_EQ(listed.listed_s, 41.5);
  EXPECT_EQ(listed.how, "listed?9 files");
}

TEST(Wire, NamesThatAreNoUtf8ComeThroughAsTheyAre) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  run::RankOrder order{.cell = plan::expand({{"device", {"emulated:1000"}}}).at(0), .copy_to = all};
  order.options.data = all;
  order.options.trace = "/\xc3\xbc \xff";
  const run::RankOrder back = run::order_from(run::to_text(order));
  EXPECT_EQ(back.options.data, order.options.data);
  EXPECT_EQ(back.options.trace, order.options.trace);
  EXPECT_EQ(back.copy_to, order.copy_to);
}

// The terminal obeys control characters, and the other machine may be anybody's.
TEST(Wire, WordsOfAnotherMachineAreCleaned) {
  run::RankResult rank = rank_of(2);
  rank.gpu_problem = "\x1b[31mred";
  rank.storage_counters = {{"a\nb", 0, 1}};
  const run::RankAnswer answer{
      .ranks = {rank},
      .bad = {.count = 1, .of = 1, .pictures = {0}, .named = {{0, "a\nb"}}},
      .page_cache = {.state = "warm", .scope = "a\nb"},
      .trace = {0, "a\nb"}};
  const run::RankAnswer back = run::answer_from(run::to_text(answer));
  EXPECT_EQ(back.ranks[0].gpu_problem, "?[31mred");
  EXPECT_EQ(back.bad.first(), "a?b");
  EXPECT_EQ(back.ranks[0].storage_counters[0].name, "a?b");
  EXPECT_EQ(back.page_cache.scope, "a?b");
  EXPECT_EQ(back.trace.problem, "a?b");
}

std::string refusal_of(const std::string& answer) {
  try {
    run::answer_from(answer);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TEST(Wire, RefusesBadPicturesThatCannotBe) {
  const auto refusal = [](const pipeline::BadTotals& bad) {
    return refusal_of(run::to_text(run::RankAnswer{.ranks = {rank_of(2)}, .bad = bad}));
  };
  EXPECT_EQ(refusal({.count = 3, .drawn = 9, .of = 5, .pictures = {0, 4}}), "no error");
  std::map<std::int64_t, std::string> many;
  for (std::int64_t i = 0; i <= 20; ++i) many[i] = "bad";
  for (const pipeline::BadTotals& bad :
       {pipeline::BadTotals{.count = -1}, pipeline::BadTotals{.drawn = -1},
        pipeline::BadTotals{.of = -1}, pipeline::BadTotals{.of = 5, .pictures = {1, 5}},
        pipeline::BadTotals{.of = 5, .pictures = {-1, 3}},
        pipeline::BadTotals{.of = 50, .named = many}})
    EXPECT_THAT(refusal(bad), testing::HasSubstr("bad samples cannot be counted"));
}

TEST(Wire, RefusesNotedSamplesThatCannotBe) {
  const auto refusal = [](const std::vector<std::int64_t>& samples) {
    return refusal_of(run::to_text(run::RankAnswer{
        .ranks = {rank_of(2)}, .stray_bytes = {.is_counted = true, .samples = samples}}));
  };
  for (const std::vector<std::int64_t>& samples :
       {std::vector<std::int64_t>{}, std::vector<std::int64_t>{0, 4}})
    EXPECT_EQ(refusal(samples), "no error");
  for (const std::vector<std::int64_t>& samples :
       {std::vector<std::int64_t>{-1, 4}, std::vector<std::int64_t>{4, 0},
        std::vector<std::int64_t>{4, 4}})
    EXPECT_THAT(refusal(samples), testing::HasSubstr("noted samples cannot be counted"));
}

TEST(Wire, RefusesALatencyThatNoBucketHolds) {
  run::RankResult rank = rank_of(2);
  rank.latencies.reads.counts.fill(0);
  rank.latencies.opens.counts.fill(0);
  rank.latencies.reads.counts[77] = 5;
  std::string text = run::to_text(run::RankAnswer{.ranks = {rank}});
  const std::string bucket = "[77,5]";
  ASSERT_NE(text.find(bucket), std::string::npos) << text;
  for (const char* other : {"[1000000,5]", "[-1,5]", "[18446744073709551615,5]"}) {
    std::string changed = text;
    changed.replace(changed.find(bucket), bucket.size(), other);
    EXPECT_NE(refusal_of(changed), "no error") << other;
  }
}

TEST(Wire, RefusesResultsThatMakeNoSense) {
  using Change = std::function<void(run::RankResult&)>;
  const std::pair<const char*, Change> cases[] = {
      {"reads cannot be counted", [](auto& r) { r.latencies.reads.counts[3] = -1; }},
      {"reads cannot be counted", [](auto& r) { r.latencies.unregistered = -1; }},
      {"reads cannot be counted", [](auto& r) { r.latencies.seen_late = -1; }},
      {"reads cannot be counted",
       [](auto& r) { r.latencies.opens.counts[3] = std::int64_t{1} << 50; }},
      {"not within its steps", [](auto& r) { r.last = r.steps.size() + 1; }},
      {"not within its steps", [](auto& r) { r.first = 0; }},
      {"not within its steps", [](auto& r) { r.first = r.last; }},
      {"not within its steps", [](auto& r) { r.data_wait_ms.resize(2); }},
      {"takes no time", [](auto& r) { r.steps[r.last - 1].end_ns = 0; }},
      {"before the one before it", [](auto& r) { r.steps[4].end_ns = r.steps[3].end_ns - 1; }},
      {"less than no time", [](auto& r) { r.steps[4].sync_ns = -1; }},
      {"less than no time", [](auto& r) { r.data_wait_ms[4] = -0.001; }},
      {"at no time",
       [](auto& r) { r.steps[0].start_ns = std::numeric_limits<std::int64_t>::min(); }},
      {"total that cannot be", [](auto& r) { r.stages[measure::Stage::read].items = -1; }},
      {"arrivals cannot be", [](auto& r) { r.arrivals.busy_ns = -1; }},
      {"read below the files", [](auto& r) { r.storage_counters = {{"vda", 0, -1}}; }},
      {"count is negative", [](auto& r) { r.samples_ahead_limit = -1; }},
      {"block is not within its steps", [](auto& r) { r.blocks = {{.first = 0, .last = 3}}; }},
      {"block is not within its steps", [](auto& r) { r.blocks = {{.first = 3, .last = 3}}; }},
      {"block is not within its steps", [](auto& r) { r.blocks = {{.first = 3, .last = 11}}; }},
      {"block is not within its steps",
       [](auto& r) { r.blocks = {{.block = -1, .first = 3, .last = 4}}; }},
      {"block is not within its steps",
       [](auto& r) { r.blocks = {{.first = 3, .last = 4, .made_in_s = -1}}; }},
      {"CPU has no number", [](auto& r) { r.place.cpus = {1, -1}; }},
      {"ran nowhere", [](auto& r) { r.place.host = std::string(300, 'x'); }}};
  for (const auto& [reason, change] : cases) {
    run::RankResult rank = rank_of(2);
    change(rank);
    EXPECT_THAT(refusal_of(run::to_text(run::RankAnswer{.ranks = {rank}})),
                testing::HasSubstr(reason));
  }
  EXPECT_THAT(refusal_of(std::string(100'000, '[')), testing::HasSubstr("nested too deeply"));
  std::string many = "[";
  for (int i = 0; i < 200'000; ++i) many += "{},";
  EXPECT_THAT(refusal_of(many + "{}]"), testing::HasSubstr("far too many values"));
  std::string hollow = run::to_text(run::RankAnswer{.ranks = {rank_of(2)}});
  hollow.replace(hollow.find("\"steps\":[["), 10, "\"steps\":[[],[");
  EXPECT_THAT(refusal_of(hollow), testing::HasSubstr("out of range"));
  EXPECT_NE(refusal_of("null"), "no error");
  EXPECT_NE(refusal_of(""), "no error");
}

TEST(Wire, RefusesABlockOfNoPlace) {
  run::RankOrder order{.cell = plan::expand({{"device", {"emulated:1000"}}}).at(0)};
  order.options.blocks.blocks = {{measure::Place::all_reduce, {1, false}}};
  std::string text = run::to_text(order);
  EXPECT_NO_THROW(run::order_from(text));
  const std::string block = "[3,1,false,0.0,0.0]";
  ASSERT_NE(text.find(block), std::string::npos) << text;
  text.replace(text.find(block), block.size(),
               "[" + std::to_string(measure::kPlaceCount) + ",1,false,0.0,0.0]");
  EXPECT_THROW(run::order_from(text), std::invalid_argument);
}

// What gets through can be computed with: a sanitizer watches.
TEST(Wire, MutatedResultsAreRefusedOrHarmless) {
  Random random(24);
  const plan::CellSettings settings;
  run::RankResult rank = rank_of(2);
  rank.blocks = {{.first = 2, .last = 5, .made = 7, .made_in_s = 0.5}};
  const std::string sound = run::to_text(run::RankAnswer{.ranks = {rank}});  // one a process
  int harmless = 0;
  for (int i = 0; i < 10'000; ++i) {
    try {
      const run::RankAnswer answer = run::answer_from(mutated(sound, random));
      if (answer.ranks.empty()) continue;
      run::measurement_of(settings, answer);
      ++harmless;
    } catch (const std::exception& refused) {
      EXPECT_STRNE(refused.what(), "");
    }
  }
  EXPECT_GT(harmless, 10) << "a changed digit is still a number";
}

// They are added up over the ranks.
TEST(Wire, RefusesABlocksTotalsThatCannotBe) {
  run::RankResult rank = rank_of(2);
  rank.blocks = {{.first = 2, .last = 5}};
  rank.blocks[0].stages[measure::Stage::read].wall_ns = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(refusal_of(run::to_text(run::RankAnswer{.ranks = {rank}})),
              testing::HasSubstr("total that cannot be"));
}

}  // namespace
}  // namespace feedrate::tests
