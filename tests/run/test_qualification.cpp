#include "run/qualification.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/whole_file.h"
#include "device/step_option.h"
#include "tests/device/stand_in_trials.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// As a process of its own, which may die: what it tells comes through a pipe, a line each.
bool attempt_in_a_process(StandIn& trials, const run::QualifyOrder& order,
                          const run::QualifySink& sink) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    run::run_trials(order, trials, all_open(), [&](const run::QualifyEvent& event) {
      const std::string line = run::json_of(event).dump() + "\n";
      if (write(ends[1], line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(1);
    });
    _exit(0);
  }
  close(ends[1]);
  FILE* const said = fdopen(ends[0], "r");
  char line[1 << 14];
  while (fgets(line, sizeof line, said) != nullptr)
    sink(run::qualify_event_from(nlohmann::json::parse(line)));
  fclose(said);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) throw Error("a rank", "was killed");
  return true;
}

TEST(Qualification, WhatCrashesIsLeftOutAndTheRestIsFound) {
  StandIn trials;
  for (const char* crashes : {"cuda-graph on", "batch-norm library"})
    trials.planted[crashes].crashes = true;
  trials.planted["batch-norm fused"].faster = 1.5;
  int attempts = 0;
  std::vector<std::string> begun;
  const auto end = run::qualify_apart(
      {.asks_rates = true},
      [&](const run::QualifyOrder& order, const run::QualifySink& sink) {
        ++attempts;
        return attempt_in_a_process(trials, order, sink);
      },
      [&](const run::QualifyEvent& event) {
        if (!event.axis.empty()) begun.push_back(event.axis);
      });
  ASSERT_TRUE(end && end->qualified);
  EXPECT_EQ(attempts, 3);
  EXPECT_EQ(begun.size(), 8u) << "none is tried twice";
  EXPECT_THAT(taken_in(end->qualified->chosen),
              ElementsAre("memory-format channels_last", "batch-norm fused", "optimizer fused",
                          "master-weights on", "stem space-to-depth", "precision fp16"));
  for (const device::RungResult& rung : end->qualified->rungs) {
    if (rung.axis != "cuda-graph") continue;
    EXPECT_EQ(rung.verdict, "failed");
    EXPECT_THAT(rung.reason, HasSubstr("was killed"));
  }
  EXPECT_EQ(end->qualified->batches.size(), 5u);
}

TEST(Qualification, WhatErrsIsLeftOutByName) {
  StandIn trials;
  trials.planted["cuda-graph on"].fails = "operation not permitted when stream is capturing";
  trials.planted["batch-norm fused"].faster = 1.5;
  int attempts = 0;
  const auto end =
      run::qualify_apart({},
                         [&](const run::QualifyOrder& order, const run::QualifySink& sink) {
                           ++attempts;
                           run::run_trials(order, trials, all_open(), sink);
                           return true;
                         },
                         {});
  ASSERT_TRUE(end && end->qualified);
  EXPECT_EQ(attempts, 2);
  EXPECT_FALSE(end->qualified->chosen.cuda_graph);
  EXPECT_EQ(end->qualified->chosen.batch_norm, "fused") << "the rung above";
  const device::RungResult& failed =
      *std::ranges::find(end->qualified->rungs, "cuda-graph", &device::RungResult::axis);
  EXPECT_EQ(failed.verdict, "failed");
  EXPECT_EQ(failed.reason, "operation not permitted when stream is capturing");
}

TEST(Qualification, WhatIsFoundOutlivesTheRatesOverBatchSizes) {
  StandIn trials;
  trials.crashes_at = 256;
  const auto end =
      run::qualify_apart({.asks_rates = true},
                         [&](const run::QualifyOrder& order, const run::QualifySink& sink) {
                           return attempt_in_a_process(trials, order, sink);
                         },
                         {});
  ASSERT_TRUE(end && end->qualified);
  EXPECT_TRUE(end->qualified->chosen.cuda_graph);
  EXPECT_TRUE(end->qualified->batches.empty());
  EXPECT_THAT(end->qualified->batches_failed, HasSubstr("was killed"));
}

TEST(Qualification, WhatNoRungIsToBlameForIsThrown) {
  const auto fails = [](const run::QualifyOrder&, const run::QualifySink&) -> bool {
    throw Error("cuda:0", "no driver");
  };
  EXPECT_THROW(run::qualify_apart({}, fails, {}), Error);
  const auto says_nothing = [](const run::QualifyOrder&, const run::QualifySink&) { return true; };
  EXPECT_THROW(run::qualify_apart({}, says_nothing, {}), Error);
  const auto stops = [](const run::QualifyOrder&, const run::QualifySink&) { return false; };
  EXPECT_FALSE(run::qualify_apart({}, stops, {}));
}

TEST(Qualification, AskedForTheLargestBatchItTellsThatAlone) {
  StandIn trials;
  trials.most_images = 50;
  std::optional<run::QualifyEvent> last;
  run::run_trials({.asks_fit = true}, trials, all_open(),
                  [&](const run::QualifyEvent& event) { last = event; });
  ASSERT_TRUE(last);
  EXPECT_EQ(run::qualify_event_from(run::json_of(*last)).fits, 48);
}

class KeptQualification : public ::testing::Test {
 protected:
  static device::Qualification some() {
    StandIn trials;
    trials.planted["optimizer fused"].error.loss = std::nan("");
    return device::qualify(trials, all_open(), {}, {});
  }
  const TemporaryFolder folder_;
  const nlohmann::json h100_ = {{"device", "NVIDIA H100"}, {"build", "0.1.0 abc"}},
                       h200_ = {{"device", "NVIDIA H200"}, {"build", "0.1.0 abc"}};
};

TEST_F(KeptQualification, IsFoundForWhatItHolds) {
  const run::KeptQualifications kept(folder_.path() / "qualified");
  std::string note;
  EXPECT_FALSE(kept.find(h100_, note));
  kept.keep(h100_, some());
  const auto found = kept.find(h100_, note);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->chosen, some().chosen);
  EXPECT_EQ(found->rungs.size(), some().rungs.size());
  EXPECT_FALSE(kept.find(h200_, note)) << "another GPU's";
  EXPECT_EQ(note, "");
}

TEST_F(KeptQualification, ADamagedFileOrAnotherGpusIsNone) {
  const run::KeptQualifications kept(folder_.path());
  const auto file = kept.keep(h100_, some()), other = kept.keep(h200_, some());
  const std::string whole = read_whole_text(file);
  std::string note;
  std::ofstream(file) << whole.substr(0, whole.size() / 2);
  EXPECT_FALSE(kept.find(h100_, note));
  EXPECT_EQ(note, file.string() + ": is damaged; the device is qualified again");
  std::filesystem::copy_file(other, file, std::filesystem::copy_options::overwrite_existing);
  EXPECT_FALSE(kept.find(h100_, note));
  EXPECT_EQ(note, file.string() + ": is of something else; the device is qualified again");
}

TEST(Qualification, OnlyWhatIsOpenIsSet) {
  device::StepOptions options{.channels_last = false, .optimizer = "loop"};
  const device::StepOptions chosen{.batch_norm = "fused", .cuda_graph = true};
  device::copy_step_options({"cuda-graph", "batch-norm"}, chosen, options);
  EXPECT_EQ(
      options,
      (device::StepOptions{
          .channels_last = false, .batch_norm = "fused", .optimizer = "loop", .cuda_graph = true}));
}

TEST(Qualification, AnErrorThatIsNoNumberTravels) {
  const run::QualifyEvent wrong{.ended = device::RungResult{.error = {.loss = NAN, .update = 2}}};
  const nlohmann::json sent = nlohmann::json::parse(run::json_of(wrong).dump());
  const device::StepError came = run::qualify_event_from(sent).ended->error;
  EXPECT_TRUE(std::isnan(came.loss));
  EXPECT_EQ(came.update, 2);
}

TEST(Qualification, RecordsHaveWhatWasTimedAndWhyTheRestWasNot) {
  using LadderRungs = std::vector<device::RungResult>;
  EXPECT_EQ(
      run::record_json_of(
          LadderRungs{
              {.axis = "optimizer",
               .value = "fused",
               .verdict = "taken",
               .imgs_per_s = 90,
               .ratio = 1.5,
               .low = 1.25,
               .high = 1.75,
               .error = {0.25, 0.5, -0.125, 0.75, 0.0625}},
              {.axis = "cuda-graph", .value = "on", .verdict = "failed", .reason = "no memory"}})
          .dump(),
      R"([{"axis":"optimizer","value":"fused","verdict":"taken","imgs_per_s":90.0,)"
      R"("ratio":1.5,"ratio_ci95":[1.25,1.75],)"
      R"("error":{"loss":0.25,"update":0.5,"scale":-0.125,"one":0.75,"one_in_fp32":0.0625}},)"
      R"({"axis":"cuda-graph","value":"on","verdict":"failed","reason":"no memory"}])");
  using Batches = std::vector<device::BatchRate>;
  EXPECT_EQ(run::record_json_of(
                Batches{{.batch = 64, .imgs_per_s = 80.5}, {.batch = 128, .reason = "no memory"}})
                .dump(),
            R"([{"batch_size":64,"imgs_per_s":80.5},{"batch_size":128,"reason":"no memory"}])");
}

}  // namespace
}  // namespace feedrate::tests
