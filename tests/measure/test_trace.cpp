#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/whole_file.h"
#include "measure/clock.h"
#include "measure/stages.h"
#include "measure/trace_file.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

using measure::Stage;
using measure::TraceKind;
using nlohmann::json;

// What a file of these ranks holds.
class TraceFile : public testing::Test {
 protected:
  json written(std::vector<std::shared_ptr<const measure::Trace>> ranks, std::int64_t from_ns) {
    left_out_ = measure::write_trace_file(path(), ranks, from_ns);
    std::ifstream file(path());
    return json::parse(file);
  }
  std::filesystem::path path() const { return folder_.path() / "a trace.json"; }

  // Events of one kind: "X" of a row, "C" of a counter ...
  static std::vector<json> some(const json& file, const std::string& phase,
                                const std::string& name = "") {
    std::vector<json> found;
    for (const json& event : file.at("traceEvents")) {
      if (event.at("ph") == phase && (name.empty() || event.at("name") == name))
        found.push_back(event);
    }
    return found;
  }

  TemporaryFolder folder_;
  std::int64_t left_out_ = -1;
};

TEST(TraceLane, KeepsTheFirstEventsAndCountsTheOthers) {
  measure::TraceLane lane("worker 0", 3);
  const auto* const memory = lane.events().data();
  for (std::int64_t i = 0; i < 10; ++i) lane.add(TraceKind::read, 100 * i, 100 * i + 50, i);
  ASSERT_EQ(lane.events().size(), 3u);
  EXPECT_EQ(lane.events().data(), memory) << "set aside before";
  EXPECT_EQ(lane.left_out(), 7);
  EXPECT_EQ(lane.events()[2].start_ns, 200);
  EXPECT_EQ(lane.events()[2].duration_ns, 50);
  EXPECT_EQ(lane.events()[2].index, 2);
}

TEST(TraceLane, IsWrittenByEachThreadAlone) {
  constexpr std::int64_t kEvents = 10'000;
  measure::Trace trace(0, 8);
  std::vector<measure::TraceLane*> lanes;
  for (int w = 0; w < 4; ++w) lanes.push_back(&trace.add_worker());
  {
    std::vector<std::jthread> threads;
    for (measure::TraceLane* lane : lanes) {
      threads.emplace_back([lane] {
        for (std::int64_t i = 0; i < kEvents; ++i) lane->add(TraceKind::decode, i, i + 1, i);
      });
    }
  }
  for (const auto& lane : trace.workers()) EXPECT_EQ(lane->events().size(), kEvents);
  EXPECT_EQ(trace.workers()[3]->row(), "worker 3");
  EXPECT_EQ(trace.left_out(), 0);
}

TEST(TraceLane, HoldsTheLapsOfATimer) {
  measure::StageCounters counters;
  measure::TraceLane lane("worker 0", 100);
  measure::StageTimer timer(counters, &lane);
  timer.start();
  timer.of(7);
  timer.take(Stage::lock, 0);
  timer.lap(Stage::read, 10);
  timer.pass(Stage::augment, 10);
  timer.lap(Stage::decode, 10);
  timer.add(Stage::collate, measure::now_ns(), measure::now_ns(), 0);
  const auto& events = lane.events();
  ASSERT_EQ(events.size(), 3u) << "nothing of what took no time";
  EXPECT_EQ(events[0].kind, TraceKind::read);
  EXPECT_EQ(events[1].kind, TraceKind::decode);
  EXPECT_EQ(events[2].kind, TraceKind::collate);
  EXPECT_EQ(events[0].start_ns + events[0].duration_ns, events[1].start_ns) << "the same reading";
  for (const auto& event : events) EXPECT_EQ(event.index, 7);
  const measure::StageTotals totals = counters.snapshot();
  EXPECT_EQ(totals[Stage::read].wall_ns, events[0].duration_ns);
  EXPECT_EQ(totals[Stage::decode].wall_ns, events[1].duration_ns);
}

TEST(TraceLane, HasTheStagesNames) {
  for (std::size_t i = 0; i < measure::kStageCount; ++i)
    EXPECT_EQ(measure::name_of(static_cast<TraceKind>(i)), measure::kStageNames[i]);
}

TEST_F(TraceFile, HasARowForEachThreadAndStreamOfTheOperators) {
  auto trace = std::make_shared<measure::Trace>(1, 8);
  trace->set_operators({{"aten::mm", 2'000, 500, 77},
                        {"kernel<\"a\\b\">", 2'300, 100, 7, true},
                        {"aten::matmul", 2'000, 900, 77},
                        {"backward", 3'000, 10, 78}});
  const json file = written({trace}, 1'000);
  std::map<std::string, json> by_name;
  for (const json& event : some(file, "X")) by_name[event.at("name")] = event;
  ASSERT_EQ(by_name.size(), 4u);
  const json outer = by_name.at("aten::matmul"), inner = by_name.at("aten::mm");
  EXPECT_EQ(outer.at("tid"), inner.at("tid"));
  EXPECT_EQ(outer.at("pid"), 1);
  EXPECT_EQ(outer.at("ts"), 1.0);
  EXPECT_EQ(outer.at("dur"), 0.9);
  EXPECT_EQ(some(file, "X").front(), outer) << "before what lies within it";
  const json kernel = by_name.at("kernel<\"a\\b\">");
  EXPECT_NE(kernel.at("tid"), outer.at("tid"));
  EXPECT_NE(by_name.at("backward").at("tid"), outer.at("tid"));
  std::map<int, std::string> rows;
  for (const json& event : some(file, "M", "thread_name"))
    rows[event.at("tid")] = event.at("args").at("name");
  EXPECT_EQ(rows.at(outer.at("tid")), "operators: thread 1");
  EXPECT_EQ(rows.at(by_name.at("backward").at("tid")), "operators: thread 2");
  EXPECT_EQ(rows.at(kernel.at("tid")), "operators: stream 7");
}

TEST_F(TraceFile, HoldsTheFirstOperators) {
  auto trace = std::make_shared<measure::Trace>(0, 8, 2);
  trace->set_operators({{"c", 30, 1}, {"a", 10, 1}, {"b", 20, 1}});
  const json file = written({trace}, 0);
  EXPECT_EQ(left_out_, 1);
  ASSERT_EQ(some(file, "X").size(), 2u);
  EXPECT_EQ(some(file, "X")[1].at("name"), "b");
  EXPECT_EQ(file.at("otherData").at("left_out_of_rows").at(0).at("row"), "operators");
}

TEST_F(TraceFile, HasARowForEachThreadAndTheDevice) {
  constexpr std::int64_t kStart = 5'000'000'000'000;
  auto trace = std::make_shared<measure::Trace>(1, 4);
  trace->set_device("a \"GPU\"\n");
  trace->add_worker().add(TraceKind::read, kStart + 1'234'567, kStart + 1'234'572, 9);
  trace->training().add(TraceKind::wait, kStart - 1, kStart + 999, 2);
  trace->copies().add(TraceKind::copy, kStart, kStart + 10, 2);
  trace->queue().add(TraceKind::queue, kStart + 10, kStart + 30, 2);
  trace->queue().add(TraceKind::queue, kStart + 5, kStart + 20, 3);
  trace->submitted(2);
  trace->submitted(3);
  trace->set_steps({{kStart, kStart + 100}, {kStart + 100, kStart + 200}});
  trace->mark("window begins", kStart + 100);
  const json file = written({trace}, kStart);

  for (const json& event : file["traceEvents"]) EXPECT_EQ(event["pid"], 1);
  EXPECT_EQ(some(file, "M", "process_name")[0]["args"]["name"], "rank 1: a \"GPU\"?");
  std::map<int, std::string> rows;
  for (const json& row : some(file, "M", "thread_name")) rows[row["tid"]] = row["args"]["name"];
  EXPECT_THAT(rows, testing::ElementsAre(
                        testing::Pair(0, "training thread"), testing::Pair(1, "device: steps"),
                        testing::Pair(2, "device: copies"), testing::Pair(10, "worker 0")));

  const json read = some(file, "X", "read").at(0);
  EXPECT_EQ(read["ts"], 1234.567) << "microseconds since the start";
  EXPECT_EQ(read["dur"], 0.005);
  EXPECT_EQ(read["args"], (json{{"sample", 9}, {"batch", 2}}));
  EXPECT_EQ(some(file, "X", "wait").at(0)["ts"], -0.001);
  const auto steps = some(file, "X", "step");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[1]["args"], (json{{"step", 1}, {"batch", 3}}));
  EXPECT_EQ(some(file, "X", "copy").at(0)["tid"], 2);
  EXPECT_EQ(some(file, "i").at(0)["name"], "window begins");
  EXPECT_EQ(some(file, "i").at(0)["ts"], 0.1);
  EXPECT_EQ(some(file, "b").size(), 2u);
  EXPECT_EQ(some(file, "e").size(), 2u);

  std::vector<int> ready;
  for (const json& event : some(file, "C", "batches ready"))
    ready.push_back(event["args"]["batches"]);
  EXPECT_THAT(ready, testing::ElementsAre(1, 2, 1, 0));
  std::vector<int> busy;
  for (const json& event : some(file, "C", "device busy")) busy.push_back(event["args"]["busy"]);
  EXPECT_THAT(busy, testing::ElementsAre(1, 0)) << "one step follows the other";

  EXPECT_EQ(left_out_, 0);
  EXPECT_EQ(file["otherData"]["left_out"], 0);
  EXPECT_FALSE(std::filesystem::exists(path().string() + ".partial"));
}

// Viewers nest by the order of events that begin at once.
TEST_F(TraceFile, PutsWhatLiesWithinAnEventAfterIt) {
  auto trace = std::make_shared<measure::Trace>(0, 1);
  trace->training().add(TraceKind::read, 100, 200, 0);
  trace->training().add(TraceKind::decode, 200, 300, 0);
  trace->training().add(TraceKind::wait, 100, 300, 0);  // its end is known last
  std::vector<std::string> names;
  for (const json& event : some(written({trace}, 0), "X")) names.push_back(event["name"]);
  EXPECT_THAT(names, testing::ElementsAre("wait", "read", "decode"));
}

TEST_F(TraceFile, SaysHowMuchIsLeftOut) {
  auto whole = std::make_shared<measure::Trace>(0, 1, 4),
       cut = std::make_shared<measure::Trace>(1, 1, 4);
  measure::TraceLane& worker = cut->add_worker();
  for (std::int64_t i = 0; i < 10; ++i) worker.add(TraceKind::read, i, i + 1, i);
  for (std::int64_t i = 0; i < 5; ++i) cut->submitted(i);
  cut->set_steps(std::vector<measure::TraceStep>(5));
  const json file = written({whole, cut}, 0);
  EXPECT_EQ(left_out_, 7);
  EXPECT_EQ(some(file, "X").size(), 8u);
  EXPECT_EQ(file["otherData"]["most_events_of_a_row"], 4);
  EXPECT_EQ(file["otherData"]["left_out"], 7);
  EXPECT_EQ(file["otherData"]["left_out_of_rows"],
            (json::array({{{"rank", 1}, {"row", "device: steps"}, {"events", 1}},
                          {{"rank", 1}, {"row", "worker 0"}, {"events", 6}}})));
}

// Far more than the buffer.
TEST_F(TraceFile, MayBeLarge) {
  constexpr std::int64_t kEvents = 20'000;
  auto trace = std::make_shared<measure::Trace>(0, 8);
  measure::TraceLane& worker = trace->add_worker();
  for (std::int64_t i = 0; i < kEvents; ++i) worker.add(TraceKind::augment, 10 * i, 10 * i + 9, i);
  const auto events = some(written({trace}, 0), "X");
  ASSERT_EQ(static_cast<std::int64_t>(events.size()), kEvents);
  EXPECT_EQ(events.back()["args"]["sample"], kEvents - 1);
}

TEST_F(TraceFile, StaysAsItWasWhereTheNewOneCannotBeWritten) {
  auto trace = std::make_shared<measure::Trace>(0, 1);
  std::ofstream(path()) << "old";
  std::filesystem::create_directory(path().string() + ".partial");
  const std::vector<std::shared_ptr<const measure::Trace>> ranks = {trace};
  EXPECT_THROW(measure::write_trace_file(path(), ranks, 0), Error);
  EXPECT_EQ(read_whole_text(path()), "old");
}

}  // namespace
}  // namespace feedrate::tests
