#include "run/qualifier.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <thread>

#include "tests/device/stand_in_trials.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Ranks whose device is a stand-in, and which can do nothing but try it out.
class TriedOut : public run::CellRanks {
 public:
  int times = 0;                      // one thread at a time, or ThreadSanitizer tells
  std::stop_source* stops = nullptr;  // while the device is tried out
  bool stops_when_found = false;      // before the rates over batch sizes

  void check(const plan::CellSettings&, const device::AcceleratorKind&) const override {}
  bool apart(const plan::CellSettings&) const override { return false; }
  void probe_cell_data(const plan::Cell&, const plan::CellSettings&, const run::RunOptions&,
                       run::Datasets&) override {}
  int here(const plan::CellSettings&) const override { return 1; }
  std::optional<run::RankAnswer> run(const plan::Cell&, const plan::CellSettings&,
                                     const run::RunOptions&,
                                     std::shared_ptr<const storage::DatasetVariant>,
                                     const run::ProgressSink&, std::stop_token,
                                     run::RankResults&) override {
    return {};
  }

  bool qualify(const plan::Cell&, const plan::CellSettings&, const run::RunOptions&,
               const run::QualifyOrder& order, const run::QualifySink& sink,
               std::stop_token) override {
    ++times;
    if (stops) {
      stops->request_stop();
      return false;
    }
    StandIn trials;
    const auto hear = [&](const run::QualifyEvent& event) {
      sink(event);
      if (event.qualified && stops_when_found) throw Stopped{};
    };
    try {
      run::run_trials(order, trials, all_open(), hear);
    } catch (const Stopped&) {
      return false;
    }
    return true;
  }

 private:
  struct Stopped {};
};

class AQualifier : public ::testing::Test {
 protected:
  AQualifier() {
    registry_.add({.name = "stand-in",
                   .help = "",
                   .make = {},
                   .count = {},
                   .check = {},
                   .trials = [](std::string_view, const device::StepSpec&) {
                     return std::make_unique<StandIn>();
                   }});
  }

  static run::CellResult leaving_open(std::set<std::string> open, int batch_size = 64) {
    run::CellResult result;
    result.settings.device = "stand-in";
    result.settings.precision = "bf16";
    result.settings.batch_size = batch_size;
    result.settings.open_step = std::move(open);
    return result;
  }
  bool qualify(run::CellResult& result) {
    return qualifier_.qualify(result, {options_, registry_, ranks_, stop_.get_token()});
  }

  run::RunOptions options_;
  device::AcceleratorRegistry registry_;
  TriedOut ranks_;
  std::stop_source stop_;
  std::vector<std::string> found_, notes_;
  run::Qualifier qualifier_{
      {.note = [this](const std::string& text) { notes_.push_back(text); },
       .told = {},
       .found =
           [this](const plan::CellSettings& settings, const device::Qualification&) {
             found_.push_back(std::to_string(settings.batch_size));
           },
       .found_before =
           [this](const plan::CellSettings& settings, const device::Qualification&) {
             found_.push_back(std::to_string(settings.batch_size) + ", before");
           }}};
};

TEST_F(AQualifier, FindsOutOnceForAllThreadsThatComeAtTheSameTime) {
  std::vector<run::CellResult> results(4, leaving_open({"cuda-graph"}));
  {
    std::vector<std::jthread> runners;
    for (run::CellResult& result : results)
      runners.emplace_back([&] { EXPECT_TRUE(qualify(result)); });
  }
  EXPECT_EQ(ranks_.times, 1);
  EXPECT_THAT(found_, ElementsAre("64"));
  int found_out = 0;
  for (const run::CellResult& result : results) {
    EXPECT_TRUE(result.settings.step.cuda_graph);
    EXPECT_EQ(result.qualified, results.front().qualified);
    found_out += result.qualify_ns > 0 ? 1 : 0;
  }
  EXPECT_EQ(found_out, 1) << "the others' records must not say that it took their time";
}

TEST_F(AQualifier, FindsOutAnewForAnotherBatchSize) {
  run::CellResult one = leaving_open({"cuda-graph"}), other = leaving_open({"cuda-graph"}, 8);
  EXPECT_TRUE(qualify(one));
  EXPECT_TRUE(qualify(other));
  EXPECT_THAT(found_, ElementsAre("64", "8"));
}

TEST_F(AQualifier, LeavesWhatWasTypedAlone) {
  run::CellResult nothing = leaving_open({}), one = leaving_open({"optimizer"});
  one.settings.step.cuda_graph = false;
  EXPECT_TRUE(qualify(nothing));
  EXPECT_EQ(ranks_.times, 0);
  EXPECT_EQ(nothing.qualified, nullptr);
  EXPECT_TRUE(qualify(one));
  EXPECT_EQ(one.settings.step.optimizer, "fused");
  EXPECT_FALSE(one.settings.step.cuda_graph) << "although it is faster";
}

TEST_F(AQualifier, TakesFp16WhereThatIsFasterAndPrecisionIsOpen) {
  run::CellResult open = leaving_open({"precision", "cuda-graph"}),
                  typed = leaving_open({"cuda-graph"});
  EXPECT_TRUE(qualify(open));
  EXPECT_TRUE(qualify(typed));
  EXPECT_EQ(open.settings.precision, "fp16");
  EXPECT_EQ(typed.settings.precision, "bf16");
  EXPECT_EQ(open.settings.step.trial_precision, "") << "which is of trials";
}

TEST_F(AQualifier, TriesNothingWhereAllWaysButThePrecisionAreTyped) {
  run::CellResult one = leaving_open({"precision"}),
                  several = leaving_open({"precision", "cuda-graph", "graph-memsets"});
  several.settings.gpus = 2;
  EXPECT_TRUE(qualify(one));
  EXPECT_TRUE(qualify(several));
  EXPECT_EQ(ranks_.times, 0);
  EXPECT_EQ(one.settings.precision, "bf16");
}

// `--qualify` on a device whose ways are fixed, as on a CPU.
TEST_F(AQualifier, ShowsWhatNothingWasLeftTo) {
  run::CellResult result = leaving_open({});
  options_.qualify = true;
  EXPECT_TRUE(qualify(result));
  EXPECT_EQ(ranks_.times, 1);
  EXPECT_EQ(result.qualified, nullptr);
  EXPECT_EQ(result.settings.step, device::StepOptions{});
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("shown only")));
  run::CellResult another = leaving_open({});
  EXPECT_TRUE(qualify(another));
  EXPECT_EQ(ranks_.times, 1);
  EXPECT_EQ(notes_.size(), 1u) << "told once";
}

TEST_F(AQualifier, LeavesWhatWasTypedAloneWithSeveralGpus) {
  run::CellResult result = leaving_open({"cuda-graph"});
  result.settings.gpus = 2, result.settings.step.optimizer = "loop";
  options_.qualify = true;
  EXPECT_TRUE(qualify(result));
  EXPECT_EQ(result.settings.step.optimizer, "loop") << "typed";
  EXPECT_EQ(result.qualified, nullptr);
}

TEST_F(AQualifier, TriesNoGraphWithSeveralGpus) {
  run::CellResult result = leaving_open({"cuda-graph", "optimizer"});
  result.settings.gpus = 2;
  EXPECT_TRUE(qualify(result));
  EXPECT_FALSE(result.settings.step.cuda_graph) << "the trials have one rank";
  EXPECT_EQ(result.settings.step.optimizer, "fused");
}

TEST_F(AQualifier, StoppedItHasFoundNothing) {
  ranks_.stops = &stop_;
  run::CellResult result = leaving_open({"cuda-graph"});
  EXPECT_FALSE(qualify(result));
  EXPECT_FALSE(qualify(result)) << "a thread that has waited";
  EXPECT_EQ(ranks_.times, 1);
  EXPECT_EQ(result.qualified, nullptr);
  EXPECT_THAT(found_, IsEmpty());
}

// Whoever has minutes of a GPU alone must not lose what these have found.
TEST_F(AQualifier, KeepsWhatItHasFoundBeforeTheRatesOverBatchSizes) {
  const TemporaryFolder folder;
  setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  registry_.add({.name = "kept",
                 .help = "",
                 .make = {},
                 .count = {},
                 .check = {},
                 .trials = [](std::string_view,
                              const device::StepSpec&) { return std::make_unique<StandIn>(); },
                 .identity = [](std::string_view) { return "a GPU"; }});
  run::CellResult first = leaving_open({"cuda-graph"});
  first.settings.device = "kept";
  run::CellResult second = first, third = first;
  options_.qualify = ranks_.stops_when_found = true;
  EXPECT_FALSE(qualify(first));
  options_.qualify = false;
  EXPECT_TRUE(qualify(second));
  EXPECT_TRUE(qualify(third));
  EXPECT_EQ(ranks_.times, 1);
  EXPECT_TRUE(second.settings.step.cuda_graph);
  EXPECT_THAT(found_, ElementsAre("64, before")) << "told once";
  unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace feedrate::tests
