#include "plan/suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/error.h"

namespace feedrate::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SuiteFile : public testing::Test {
 protected:
  SuiteFile() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "feedrate-suite-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~SuiteFile() override { std::filesystem::remove_all(folder_); }

  plan::Suite read(const std::string& text) {
    std::ofstream(folder_ / "suite.toml") << text;
    return plan::read_suite(folder_ / "suite.toml");
  }
  std::string refusal(const std::string& text) {
    try {
      read(text);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder_;
};

TEST_F(SuiteFile, KeysAtTheTopAreDefaultsAndTablesAreSweeps) {
  const plan::Suite suite = read(
      "data = \"jpeg\"\n[[sweep]]\nworkers = [1, 2]\n[[sweep]]\nworkers = 4\ncache = \"host\"\n");
  EXPECT_THAT(suite.defaults.at("data"), ElementsAre("jpeg"));
  EXPECT_FALSE(suite.defaults.contains("sweep"));
  ASSERT_EQ(suite.sweeps.size(), 2u);
  EXPECT_THAT(suite.sweeps[0].at("workers"), ElementsAre("1", "2"));
  EXPECT_THAT(suite.sweeps[1].at("workers"), ElementsAre("4"));
  EXPECT_THAT(suite.sweeps[1].at("cache"), ElementsAre("host"));
}

TEST_F(SuiteFile, EveryKindOfValueBecomesWhatWouldBeTyped) {
  const plan::Suite suite = read(
      "a = \"500x375\"\nb = 224\nc = true\nd = false\ne = 0.5\nf = [1, \"native\", 2.5, true]\n");
  EXPECT_THAT(suite.defaults.at("a"), ElementsAre("500x375"));
  EXPECT_THAT(suite.defaults.at("b"), ElementsAre("224"));
  EXPECT_THAT(suite.defaults.at("c"), ElementsAre("on"));
  EXPECT_THAT(suite.defaults.at("d"), ElementsAre("off"));
  EXPECT_THAT(suite.defaults.at("e"), ElementsAre("0.5"));
  EXPECT_THAT(suite.defaults.at("f"), ElementsAre("1", "native", "2.5", "on"));
}

TEST_F(SuiteFile, AnEmptyFileAsksForNothing) {
  const plan::Suite suite = read("# nothing\n");
  EXPECT_THAT(suite.defaults, IsEmpty());
  EXPECT_THAT(suite.sweeps, IsEmpty());
}

TEST_F(SuiteFile, MistakesNameTheFileAndTheLine) {
  EXPECT_THAT(refusal("a = 1\nb = = 2\n"), HasSubstr("suite.toml:2"));
  EXPECT_THAT(refusal("a = 1\n\nb = {c = 1}\n"), HasSubstr("suite.toml:3"));
  EXPECT_THAT(refusal("a = []\n"), HasSubstr("suite.toml:1"));
  EXPECT_THAT(refusal("a = 1979-05-27\n"), HasSubstr("suite.toml:1"));
  EXPECT_THAT(refusal("a = [[1, 2], [3]]\n"), HasSubstr("suite.toml:1"));
  EXPECT_THAT(refusal("sweep = 3\n"), HasSubstr("[[sweep]]"));
  EXPECT_THAT(refusal("[sweep]\nworkers = 2\n"), HasSubstr("[[sweep]]"));
}

TEST_F(SuiteFile, MistakesAreOneLine) {
  for (const char* text :
       {"a = = 2\n", "a = \"no end\n", "a = {}\n", "= 1\n", "a = 1\na = 2\n", "\xff\xfe\n"}) {
    const std::string refused = refusal(text);
    EXPECT_THAT(refused, HasSubstr("suite.toml:")) << text;
    EXPECT_EQ(refused.find('\n'), std::string::npos) << refused;
  }
}

TEST_F(SuiteFile, WhatIsNoFileIsRefused) {
  EXPECT_THROW(plan::read_suite(folder_ / "nowhere.toml"), UsageError);
  EXPECT_THROW(plan::read_suite(folder_), UsageError) << "a folder is no suite";
}

}  // namespace
}  // namespace feedrate::tests
