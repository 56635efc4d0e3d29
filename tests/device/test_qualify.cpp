#include "device/qualify.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "tests/device/stand_in_trials.h"

namespace feedrate::tests {
namespace {

using device::RungResult;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::map<std::string, std::string> verdicts(const device::Qualification& found) {
  std::map<std::string, std::string> all;
  for (const RungResult& rung : found.rungs) all[rung.axis + " " + rung.value] = rung.verdict;
  return all;
}

TEST(Qualify, TakesWhatIsRightAndFaster) {
  StandIn trials;
  trials.planted["master-weights on"].faster = 0.9;
  trials.planted["optimizer fused"] = {.faster = 1, .noise = 0.1};
  trials.planted["batch-norm fused"].faster = 1.4;
  const auto found = device::qualify(trials, all_open(), {}, {});
  EXPECT_THAT(taken_in(found.chosen),
              ElementsAre("memory-format channels_last", "batch-norm fused", "cuda-graph on",
                          "stem space-to-depth", "graph-memsets kernels"));
  const RungResult& first = found.rungs.front();
  EXPECT_NEAR(first.ratio, 1.2, 0.02);
  EXPECT_NEAR(first.imgs_per_s, 1200, 20);
  EXPECT_LT(first.low, first.ratio);
  EXPECT_EQ(verdicts(found)["master-weights on"], "no faster");
  EXPECT_EQ(verdicts(found)["optimizer fused"], "no faster") << "not by its interval";
}

// The rungs above stand on what is left.
TEST(Qualify, LeavesOutByNameWhatDiffers) {
  StandIn trials;
  trials.planted["batch-norm fused"].error.scale = 0.1;  // a gradient that is 10 % too long
  trials.planted["master-weights on"].error.loss = std::nan("");
  trials.planted["optimizer fused"].error.update = 0.5;
  trials.planted["cuda-graph on"].error.one = 0.95;  // one gradient of a hundred is missing
  trials.planted["stem space-to-depth"].error.one_in_fp32 = 0.1;
  const auto found = device::qualify(trials, all_open(), {}, {});
  EXPECT_THAT(taken_in(found.chosen),
              ElementsAre("memory-format channels_last", "batch-norm library", "precision fp16"));
  auto all = verdicts(found);
  for (const char* wrong : {"batch-norm fused", "master-weights on", "optimizer fused",
                            "cuda-graph on", "stem space-to-depth"})
    EXPECT_EQ(all[wrong], "wrong") << wrong;
  const RungResult& norm = *std::ranges::find_if(found.rungs, [](const RungResult& rung) {
    return rung.axis == "batch-norm" && rung.value == "fused";
  });
  EXPECT_GT(norm.imgs_per_s, 0) << "what it would have gained is known all the same";
  EXPECT_EQ(norm.error.scale, 0.1);
  EXPECT_THAT(norm.reason, HasSubstr("the length of its change of weights is 0.1 away"));
}

TEST(Qualify, LeavesOutByNameWhatDiffersInAGraphAndInFp16) {
  StandIn trials;
  trials.planted["graph-memsets kernels"].error.one = 0.95;
  trials.planted["batch-norm fused"].faster = 1.5;
  trials.planted["batch-norm fused"].in_fp16.one = 0.5;  // half of a gradient is missing
  const auto found = device::qualify(trials, all_open(), {}, {});
  auto all = verdicts(found);
  EXPECT_EQ(all["graph-memsets kernels"], "wrong");
  EXPECT_EQ(all["batch-norm fused"], "taken");
  EXPECT_EQ(all["precision fp16"], "wrong") << "by the plain step in fp16, not in bf16";
  EXPECT_EQ(found.chosen.trial_precision, "");
}

// As of a batch of two images whose normalisation divides by next to nothing.
TEST(Qualify, CallsNothingWrongWhereThePlainStepIsNoBetter) {
  StandIn trials;
  trials.plain.update = trials.plain_in_fp16.update = 1.1;
  device::OpenStep two = all_open();
  two.batch = 2;
  const auto found = device::qualify(trials, two, {}, {});
  EXPECT_THAT(found.rungs.front().reason, EndsWith("; use a larger batch"));
  EXPECT_THAT(taken_in(found.chosen), IsEmpty());
  for (const RungResult& rung : found.rungs) {
    if (rung.verdict == "left out") {
      EXPECT_THAT(rung.reason, HasSubstr("needs"));
    } else {
      EXPECT_EQ(rung.verdict, "not judged") << rung.axis;
      EXPECT_THAT(rung.reason, StartsWith("the plain step is no better: its change of weights is "
                                          "1.1 away from fp64"));
    }
  }
}

// What an error leaves behind in the process, as a fault of a kernel does, must not be the next
// rung's.
TEST(Qualify, ARungThatErrsEndsTheAttempt) {
  StandIn trials;
  trials.planted["master-weights on"].fails = "an illegal memory access was encountered";
  std::string last;
  const device::QualifyNews news{
      .begun = [&](const std::string& axis, const std::string&) { last = axis; },
      .ended = [&](const RungResult&) { last.clear(); }};
  EXPECT_THROW(device::qualify(trials, all_open(), {}, news), std::runtime_error);
  EXPECT_EQ(last, "master-weights");
}

TEST(Qualify, KeepsWhatIsTypedAndWhatDoesNotGoTogether) {
  StandIn trials;
  device::OpenStep step = all_open();
  step.open.erase("memory-format");
  step.typed.channels_last = false;
  step.precision = "fp32";
  auto all = verdicts(device::qualify(trials, step, {}, {}));
  EXPECT_EQ(all.count("memory-format channels_last"), 0u);
  EXPECT_EQ(all["batch-norm fused"], "left out");
  EXPECT_EQ(all["stem space-to-depth"], "left out");
  EXPECT_EQ(all["master-weights on"], "left out");
  step.open.erase("optimizer"), step.typed.optimizer = "loop", step.precision = "fp16";
  all = verdicts(device::qualify(trials, step, {}, {}));
  EXPECT_EQ(all["cuda-graph on"], "left out");
  EXPECT_EQ(all["graph-memsets kernels"], "left out") << "there is no graph";
}

// Its graph would have to ask the host for each overflow.
TEST(Qualify, Fp16InAGraphNeedsTheFusedOptimizer) {
  StandIn trials;
  device::OpenStep step = all_open();
  step.open.erase("optimizer"), step.typed.optimizer = "loop";
  EXPECT_EQ(verdicts(device::qualify(trials, step, {}, {}))["precision fp16"], "left out");
  step.open.erase("cuda-graph");
  EXPECT_EQ(verdicts(device::qualify(trials, step, {}, {}))["precision fp16"], "taken");
  step.precision = "fp32";
  EXPECT_EQ(verdicts(device::qualify(trials, step, {}, {}))["precision fp16"], "left out");
}

TEST(Qualify, ACpuHasNoFusedBatchNormalisation) {
  StandIn trials;
  device::OpenStep step = all_open();
  step.on_gpu = false;
  EXPECT_EQ(verdicts(device::qualify(trials, step, {}, {}))["batch-norm fused"], "left out");
}

TEST(Qualify, ThePlainStepIsOneThatTheTypedValuesAllow) {
  StandIn trials;
  device::OpenStep step = all_open();
  step.open.erase("batch-norm");
  step.typed.batch_norm = "fused";
  EXPECT_TRUE(device::plain_of(step).channels_last);
  EXPECT_EQ(verdicts(device::qualify(trials, step, {}, {})).count("memory-format channels_last"),
            0u);
  step.open.erase("cuda-graph");
  step.typed.cuda_graph = true;
  EXPECT_EQ(device::plain_of(step).optimizer, "loop");
  step.precision = "fp16";
  EXPECT_EQ(device::plain_of(step).optimizer, "fused");
}

// As after a crash: what is known is neither tried nor told again.
TEST(Qualify, GoesOnFromWhatIsKnown) {
  StandIn whole_trials, rest_trials;
  const auto whole = device::qualify(whole_trials, all_open(), {}, {});
  std::vector<RungResult> known(whole.rungs.begin(), whole.rungs.begin() + 3);
  known[1].verdict = "failed";
  std::vector<std::string> begun, ended;
  const device::QualifyNews news{
      .begun = [&](const std::string& axis, const std::string&) { begun.push_back(axis); },
      .ended = [&](const RungResult& rung) { ended.push_back(rung.axis); }};
  const auto rest = device::qualify(rest_trials, all_open(), known, news);
  EXPECT_THAT(begun, ElementsAre("master-weights", "cuda-graph", "batch-norm", "stem",
                                 "graph-memsets", "precision"));
  EXPECT_EQ(ended, begun);
  EXPECT_EQ(rest.chosen.batch_norm, "fused") << "the library's, its rung below, crashed";
  EXPECT_TRUE(rest.chosen.channels_last);
  EXPECT_EQ(rest.rungs.size(), whole.rungs.size());
}

TEST(Qualify, APlainStepThatFailsIsNoRungsFault) {
  class NoStep : public StandIn {
    device::StepError error_of(const device::StepOptions&) override {
      throw std::runtime_error("out of memory");
    }
  } trials;
  EXPECT_THROW(device::qualify(trials, all_open(), {}, {}), std::runtime_error);
}

TEST(Qualify, ShowsRatesOverBatchesUntilOneDoesNotFit) {
  StandIn trials;
  trials.most_images = 130;
  const auto rates = device::rates_over_batches(trials, {}, 64);
  std::vector<std::pair<int, bool>> fits;
  for (const device::BatchRate& rate : rates) fits.emplace_back(rate.batch, rate.reason.empty());
  EXPECT_THAT(fits, ElementsAre(std::pair(16, true), std::pair(32, true), std::pair(64, true),
                                std::pair(128, true), std::pair(256, false)));
}

TEST(Qualify, FindsTheLargestBatchThatFits) {
  StandIn trials;
  for (const auto& [most, expected] :
       {std::pair(256, 256), {250, 224}, {100, 96}, {3, 2}, {0, 0}}) {
    trials.most_images = most;
    EXPECT_EQ(device::largest_batch(trials, {}, 256), expected) << most;
  }
}

TEST(Qualify, AllowsTwiceThePlainStepsError) {
  const device::StepError plain{1e-3, 0.1, 0.001};
  EXPECT_EQ(device::why_wrong({2.5e-3, 0.2, -0.02}, plain), "");
  EXPECT_THAT(device::why_wrong({4e-3, 0.1, 0}, plain), HasSubstr("its loss is 0.004 away"));
  EXPECT_THAT(device::why_wrong({1e-3, 0.21, 0}, plain),
              HasSubstr("its change of weights is 0.21"));
  EXPECT_THAT(device::why_wrong({1e-3, std::nan(""), 0}, plain), HasSubstr("nan away"));
  EXPECT_NE(device::why_wrong({0, 1, 0}, {0, 0.8, 0}), "") << "as far away as no change is";
  EXPECT_NE(device::why_wrong({0, 0, 0.3}, {0, 0, 0.4}), "");
  const device::StepError noisy{.loss = 1e-3, .update = 0.3, .one = 0.95, .one_in_fp32 = 0.03};
  device::StepError other = noisy;
  other.one = 0.99;
  EXPECT_EQ(device::why_wrong(other, noisy), "") << "a weight that rounding alone moves as far";
  other.one_in_fp32 = 0.2;
  EXPECT_THAT(device::why_wrong(other, noisy), HasSubstr("one weight in fp32"));
}

}  // namespace
}  // namespace feedrate::tests
