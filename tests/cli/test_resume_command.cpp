#include "cli/resume_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "cli/options.h"
#include "ledger/plan_file.h"
#include "tests/ledger/least_record.h"
#include "tests/message_of.h"
#include "tests/plan/two_settings.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

using ledger::Arguments;
using testing::AllOf;
using testing::HasSubstr;

class ResumeCommand : public testing::Test {
 protected:
  // The folder holds a sweep that this command planned, and nothing that it measured.
  void plan_by(const Arguments& command) {
    ledger::keep_plan(folder_.path(), plan::plan_sweep(two_settings(), 1, 0), 0, command);
  }
  // What goes on where these words stand behind `sweep`.
  Arguments after(Arguments typed) {
    CLI::App app;
    session::ExperimentOptions options;
    bool resume = false, json = false;
    cli::add_experiment_options(app, options, "Axes");
    cli::add_output_option(app, options.output, "");
    app.add_flag("--resume", resume);
    app.add_flag("--json", json);
    cli::add_verbosity_options(app, options, "");
    std::ranges::reverse(typed);  // as the parser wants them
    app.parse(typed);
    return cli::command_to_go_on(app, folder_.path());
  }

  const TemporaryFolder folder_;
};

TEST_F(ResumeCommand, TheSameCommandResumes) {
  plan_by({"sweep", "--data", "jpeg", "--dataset", "d", "-o", "r"});
  const Arguments same = {"sweep", "--data", "jpeg", "--dataset", "d", "-o", "r", "--resume"};
  EXPECT_EQ(after({"-o", "r", "--resume"}), same);
  EXPECT_EQ(after({"--resume", "--output=r"}), same);
}

TEST_F(ResumeCommand, WhatWasForcedOrTriedOnceIsNotAgain) {
  plan_by({"sweep", "--workers", "2", "-o", "r", "--force-resume", "--dry-run"});
  EXPECT_EQ(after({"-o", "r", "--resume"}),
            (Arguments{"sweep", "--workers", "2", "-o", "r", "--resume"}));
}

TEST_F(ResumeCommand, WhatIsTypedNowCounts) {
  for (const Arguments& dataset : {Arguments{"--dataset", "d"}, Arguments{"--dataset=d"}}) {
    Arguments planned = {"sweep", "--workers", "1", "2"};
    planned.insert(planned.end(), dataset.begin(), dataset.end());
    planned.insert(planned.end(), {"-or", "-v"});
    plan_by(planned);
    EXPECT_EQ(after({"-o", "moved", "--resume", "--dataset", "e", "--json", "-q"}),
              (Arguments{"sweep", "--workers", "1", "2", "--dataset", "e", "--output", "moved",
                         "--resume", "--json", "--quiet"}));
  }
}

TEST_F(ResumeCommand, ConditionsThatAreTypedNowTakeThePlaceOfAll) {
  plan_by({"sweep", "--workers", "1,2", "--where", "workers=1", "--where", "gpus=1", "-o", "r"});
  EXPECT_EQ(after({"-o", "r", "--resume", "--where", "workers=1", "--where", "gpus=2"}),
            (Arguments{"sweep", "--workers", "1,2", "-o", "r", "--where", "workers=1", "--where",
                       "gpus=2", "--resume"}));
}

TEST_F(ResumeCommand, ASweepThatNamedNoCellsGoesOnAsItIs) {
  plan_by({"sweep", "-o", "r"});
  EXPECT_EQ(after({"-o", "r", "--resume"}), Arguments{});
  plan_by({"sweep", "--seed", "7", "-o", "r"});
  const Arguments all = {"sweep", "--seed", "7", "-o", "r", "--resume"};
  EXPECT_EQ(after({"-o", "r", "--resume"}), all);
  EXPECT_EQ(after({"--seed", "7", "-o", "r", "--resume"}), Arguments{}) << "no more than once";
}

TEST_F(ResumeCommand, AFolderWithoutASweepIsRefused) {
  const auto refused = [&](const Arguments& typed) {
    EXPECT_THAT(message_of([&] { after(typed); }),
                AllOf(HasSubstr(folder_.path().string() + ": holds no plan.json"),
                      HasSubstr("give the folder of a sweep, or type the sweep's own options")));
  };
  refused({"-o", "r", "--resume"});
  std::ofstream(folder_.path() / "ledger.jsonl") << "";
  refused({"-o", "r", "--seed", "7", "--resume"});
}

TEST_F(ResumeCommand, AFolderThatDoesNotSayItIsRefused) {
  std::ofstream(folder_.path() / "ledger.jsonl") << least_record(0) << "\n";
  const auto refusal = [&](const Arguments& typed) { return message_of([&] { after(typed); }); };
  const Arguments alone = {"-o", "r", "--resume"};
  EXPECT_THAT(refusal(alone), AllOf(HasSubstr(folder_.path().string() + ": holds no plan.json"),
                                    HasSubstr("type the sweep's own options again")));
  std::ofstream(folder_.path() / "plan.json") << "no JSON";
  EXPECT_THAT(refusal(alone), HasSubstr("holds no plan.json"));
  plan_by({"run", "--data", "jpeg"});
  EXPECT_THAT(refusal(alone), HasSubstr("holds a `feedrate run`, which `sweep` cannot resume"));
}

TEST_F(ResumeCommand, PathsThatWereLeftOutAreAskedFor) {
  plan_by({"sweep", "--anonymize", "--data", "jpeg", "--dataset", "DATASET", "-o", "OUTPUT"});
  EXPECT_THAT(message_of([&] { after({"-o", "r", "--resume"}); }), HasSubstr("--dataset DIR"));
  EXPECT_EQ(after({"-o", "r", "--resume", "--dataset", "d"}),
            (Arguments{"sweep", "--anonymize", "--data", "jpeg", "--dataset", "d", "--output", "r",
                       "--resume"}));
  plan_by({"sweep", "--anonymize", "--config=CONFIG", "-o", "OUTPUT"});
  EXPECT_THAT(message_of([&] { after({"-o", "r", "--resume", "--dataset", "d"}); }),
              HasSubstr("type the sweep's own options again"));
}

TEST_F(ResumeCommand, APathThatIsNoUtf8IsAskedFor) {
  for (const Arguments& dataset : {Arguments{"--dataset", "\xff"}, Arguments{"--dataset=\xff"}}) {
    Arguments planned = {"sweep", "--data", "jpeg"};
    planned.insert(planned.end(), dataset.begin(), dataset.end());
    planned.insert(planned.end(), {"-o", "\xfe"});
    plan_by(planned);
    EXPECT_THAT(message_of([&] { after({"-o", "r", "--resume"}); }),
                AllOf(HasSubstr("no UTF-8"), HasSubstr("say the path again: --dataset DIR")));
    EXPECT_EQ(
        after({"-o", "r", "--resume", "--dataset", "d"}),
        (Arguments{"sweep", "--data", "jpeg", "--dataset", "d", "--output", "r", "--resume"}));
  }
  plan_by({"sweep", "--config", "\xff", "-o", "r"});
  EXPECT_THAT(message_of([&] { after({"-o", "r", "--resume"}); }),
              HasSubstr("type the sweep's own options again"));
}

}  // namespace
}  // namespace feedrate::tests
