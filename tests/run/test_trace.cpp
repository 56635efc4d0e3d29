#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "device/registry.h"
#include "plan/expand.h"
#include "run/cell_runner.h"
#include "tests/support.h"

namespace feedrate::tests {
namespace {

using nlohmann::json;

constexpr int kBatch = 4;

// An event that lasts, in nanoseconds.
struct Span {
  std::string name;
  std::int64_t start = 0, end = 0;
  json args;
};
using Row = std::pair<int, int>;  // rank, and the thread's number
using Rows = std::map<Row, std::vector<Span>>;

constexpr int kTraining = 0, kSteps = 1, kCopies = 2, kFirstWorker = 10;

std::int64_t nanoseconds(const json& us) { return std::llround(1e3 * us.get<double>()); }

class RunTrace : public testing::Test {
 protected:
  RunTrace() {
    make_dataset(folder_.path() / "data", {"jpeg"}, {32, 32}, 64);
    options_.data = folder_.path() / "data";
    options_.limits = {.warmup_seconds = 0.05,
                       .max_warmup_seconds = 2,
                       .min_steps = 20,
                       .min_seconds = 0.2,
                       .max_seconds = 10};
    options_.trace = folder_.path() / "trace.json";
  }

  run::CellResult run(plan::AxisValues values) {
    values.insert({"device", {"emulated:2000"}});
    values.insert({"data", {"jpeg"}});
    values.insert({"batch-size", {std::to_string(kBatch)}});
    values.insert({"image-size", {"32"}});
    values.insert({"input-size", {"32"}});
    run::CellRunner runner(options_, registry_);
    const plan::Cell cell = plan::expand(values).at(0);
    runner.check(cell);
    return runner.run(cell, {}, {});
  }
  json file() const {
    std::ifstream in(options_.trace);
    return json::parse(in);
  }
  static Rows rows_of(const json& file) {
    Rows rows;
    for (const json& e : file.at("traceEvents")) {
      if (e.at("ph") != "X") continue;
      const std::int64_t start = nanoseconds(e.at("ts"));
      rows[{e.at("pid"), e.at("tid")}].push_back(
          {e.at("name"), start, start + nanoseconds(e.at("dur")), e.at("args")});
    }
    return rows;
  }
  static std::int64_t mark(const json& file, int rank, const std::string& name) {
    for (const json& e : file.at("traceEvents")) {
      if (e.at("ph") == "i" && e.at("pid") == rank && e.at("name") == name)
        return nanoseconds(e.at("ts"));
    }
    ADD_FAILURE() << "no mark " << name << " of rank " << rank;
    return -1;
  }

  TemporaryFolder folder_;
  run::RunOptions options_;
  device::AcceleratorRegistry registry_;
};

void expect_no_overlap(const std::vector<Span>& spans, const Row& row) {
  for (std::size_t i = 1; i < spans.size(); ++i) {
    ASSERT_LE(spans[i - 1].end, spans[i].start)
        << "rank " << row.first << ", row " << row.second << ": " << spans[i - 1].name << " and "
        << spans[i].name << " of event " << i;
  }
}

// Of each batch that was trained on: its samples' stages come first, each sample's in one row.
void expect_batches_were_made(const Rows& rows, int rank) {
  std::map<std::int64_t, std::set<int>> rows_of_sample;
  std::map<std::int64_t, int> decoded;           // by batch
  std::map<std::int64_t, std::int64_t> made_at;  // by batch
  for (const auto& [row, spans] : rows) {
    if (row.first != rank || row.second < kFirstWorker) continue;
    for (const Span& span : spans) {
      const std::int64_t batch = span.args.at("batch");
      rows_of_sample[span.args.at("sample")].insert(row.second);
      if (span.name == "decode") ++decoded[batch];
      made_at[batch] = std::max(made_at[batch], span.end);
    }
  }
  for (const auto& [sample, its_rows] : rows_of_sample) EXPECT_EQ(its_rows.size(), 1u) << sample;
  for (const Span& copy : rows.at({rank, kCopies})) {
    const std::int64_t batch = copy.args.at("batch");
    EXPECT_EQ(decoded[batch], kBatch) << batch;
    EXPECT_LE(made_at[batch], copy.start) << batch;
  }
}

// Steps are in order, as many as were measured, as long as was measured.
void expect_steps(const json& file, const std::vector<Span>& steps, std::int64_t begins,
                  std::int64_t ends, const run::Measurement& m) {
  std::int64_t within = 0, busy_ns = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].args.at("step"), i);
    if (steps[i].end <= begins || steps[i].end > ends) continue;
    ++within;
    busy_ns += steps[i].end - steps[i].start;
  }
  EXPECT_EQ(within, m.steps);
  const double window_ns = static_cast<double>(ends - begins);
  EXPECT_NEAR(1e-9 * window_ns, m.window_s, 0.02 * m.window_s);
  EXPECT_NEAR(static_cast<double>(busy_ns) / window_ns, 1 - m.device_idle_fraction, 0.02);
  EXPECT_EQ(file.at("otherData").at("left_out"), 0);
}

TEST_F(RunTrace, HoldsEveryBatchsLife) {
  for (const char* loader : {"pool", "batch"}) {
    const run::CellResult result = run({{"loader", {loader}}, {"workers", {"2"}}});
    ASSERT_EQ(result.status, run::Status::ok) << result.error;
    EXPECT_EQ(result.measurement->trace.problem, "");
    const json whole = file();
    const Rows rows = rows_of(whole);
    const auto& steps = rows.at({0, kSteps});
    for (const auto& [row, spans] : rows) expect_no_overlap(spans, row);
    expect_batches_were_made(rows, 0);
    expect_steps(whole, steps, mark(whole, 0, "window begins"), mark(whole, 0, "window ends"),
                 *result.measurement);
    EXPECT_EQ(steps.size(), rows.at({0, kCopies}).size());
    EXPECT_EQ(rows.at({0, kTraining}).size(), 2 * steps.size()) << "wait and submit";
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Span& copy = rows.at({0, kCopies})[i];
      EXPECT_EQ(copy.args.at("batch"), steps[i].args.at("batch"));
      EXPECT_LE(copy.end, steps[i].start) << "a step begins when its batch is there";
    }
    EXPECT_EQ(rows.count({0, kFirstWorker}) + rows.count({0, kFirstWorker + 1}), 2u);
    EXPECT_EQ(rows.count({0, kFirstWorker + 2}), 0u);
  }
}

TEST_F(RunTrace, CountsWhatWaits) {
  ASSERT_EQ(run({{"workers", {"2"}}}).status, run::Status::ok);
  const json whole = file();
  int queued = 0, counted = 0;
  for (const json& e : whole.at("traceEvents")) {
    queued += e.at("ph") == "b";
    if (e.at("name") != "batches ready") continue;
    ++counted;
    const int ready = e.at("args").at("batches");
    EXPECT_GE(ready, 0);
    EXPECT_LE(ready, 64);
  }
  EXPECT_EQ(queued, static_cast<int>(rows_of(whole).at({0, kSteps}).size()));
  EXPECT_GT(counted, queued);
}

TEST_F(RunTrace, OfSeveralRanksIsOneFile) {
  const run::CellResult result = run({{"gpus", {"2"}}, {"workers", {"1"}}});
  ASSERT_EQ(result.status, run::Status::ok) << result.error;
  const json whole = file();
  const Rows rows = rows_of(whole);
  for (const int rank : {0, 1}) {
    expect_batches_were_made(rows, rank);
    EXPECT_FALSE(rows.at({rank, kFirstWorker}).empty());
    EXPECT_LT(mark(whole, rank, "window begins"), mark(whole, rank, "window ends"));
  }
  EXPECT_EQ(rows.at({0, kSteps}).size(), rows.at({1, kSteps}).size());
}

// What the training thread does itself lies within its waiting.
TEST_F(RunTrace, WithoutWorkersIsTheTrainingThreads) {
  ASSERT_EQ(run({{"workers", {"0"}}}).status, run::Status::ok);
  const Rows rows = rows_of(file());
  EXPECT_EQ(rows.count({0, kFirstWorker}), 0u);
  const auto& spans = rows.at({0, kTraining});
  Span wait;
  int stages = 0;
  for (const Span& span : spans) {
    if (span.name == "wait") wait = span;
    if (!span.args.contains("sample")) continue;
    ++stages;
    EXPECT_LE(wait.start, span.start);
    EXPECT_LE(span.end, wait.end);
    EXPECT_EQ(span.args.at("batch"), wait.args.at("batch"));
  }
  EXPECT_GT(stages, 0);
}

TEST_F(RunTrace, OfACacheOrNoDataHasTheDevicesRows) {
  for (const plan::AxisValues& values :
       {plan::AxisValues{{"cache", {"host"}}}, plan::AxisValues{{"cache", {"device"}}},
        plan::AxisValues{{"data", {"synthetic"}}}}) {
    const run::CellResult result = run(values);
    ASSERT_EQ(result.status, run::Status::ok) << result.error;
    const Rows rows = rows_of(file());
    EXPECT_GE(static_cast<std::int64_t>(rows.at({0, kSteps}).size()), result.measurement->steps);
  }
}

TEST_F(RunTrace, ThatCannotBeWrittenCostsNoMeasurement) {
  options_.trace = folder_.path() / "nowhere" / "trace.json";
  const run::CellResult result = run({{"workers", {"1"}}});
  ASSERT_EQ(result.status, run::Status::ok) << result.error;
  EXPECT_THAT(result.measurement->trace.problem, testing::HasSubstr("nowhere/trace.json: cannot"));
}

TEST_F(RunTrace, IsNotWrittenUnasked) {
  options_.trace.clear();
  ASSERT_EQ(run({{"workers", {"1"}}}).status, run::Status::ok);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "trace.json"));
}

TEST(TraceName, HasTheRanksNumberBeforeItsEnding) {
  EXPECT_EQ(run::trace_file_of("x/a.json", 2), "x/a.rank2.json");
  EXPECT_EQ(run::trace_file_of("/x.y/a", 0), "/x.y/a.rank0");
}

}  // namespace
}  // namespace feedrate::tests
