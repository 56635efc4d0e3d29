#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>

#include <fstream>

#include "base/file_remedy.h"
#include "ledger/ledger.h"
#include "tests/ledger/least_record.h"
#include "tests/message_of.h"
#include "tests/support.h"

namespace feedrate::tests {
namespace {

TEST(Ledger, ResumeReadsWhatWasAppended) {
  const TemporaryFolder folder;
  {
    ledger::Ledger ledger(folder.path(), false);
    ledger.append(least_record(1));
    ledger.append(least_record(2));
  }
  ledger::Ledger again(folder.path(), true);
  ASSERT_EQ(again.records().size(), 2u);
  EXPECT_EQ(again.records()[1]["n"], 2);
  EXPECT_FALSE(again.mend());
}

TEST(Ledger, ATornLastLineIsCutOffAtEveryPlace) {
  const std::string whole = least_record(2).dump() + "\n";
  for (std::size_t cut = 1; cut + 1 < whole.size(); ++cut) {
    const TemporaryFolder folder;
    {
      ledger::Ledger ledger(folder.path(), false);
      ledger.append(least_record(1));
    }
    std::ofstream(folder.path() / "ledger.jsonl", std::ios::app) << whole.substr(0, cut);
    {
      ledger::Ledger ledger(folder.path(), true);
      EXPECT_TRUE(ledger.mend());
      ASSERT_EQ(ledger.records().size(), 1u) << cut;
      ledger.append(least_record(3));
    }
    const ledger::Ledger again(folder.path(), true);
    ASSERT_EQ(again.records().size(), 2u);
    EXPECT_EQ(again.records()[1]["n"], 3);
  }
}

TEST(Ledger, AWholeLastLineWithoutItsNewlineIsKept) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "ledger.jsonl") << least_record(1).dump() << "\n"
                                                << least_record(2).dump();
  {
    ledger::Ledger ledger(folder.path(), true);
    ASSERT_EQ(ledger.records().size(), 2u);
    EXPECT_FALSE(ledger.mend());
    ledger.append(least_record(3));
  }
  const ledger::Ledger again(folder.path(), true);
  ASSERT_EQ(again.records().size(), 3u);
  EXPECT_EQ(again.records()[2]["n"], 3);
}

TEST(Ledger, StaysAsItWasUntilItIsMended) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "ledger.jsonl") << least_record(1).dump() << "\n{\"schema\":\"feed";
  const auto before = std::filesystem::file_size(folder.path() / "ledger.jsonl");
  {
    ledger::Ledger(folder.path(), true);
  }
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "ledger.jsonl"), before);
}

TEST(Ledger, ExistingResultsAreNotAddedToUnasked) {
  const TemporaryFolder folder;
  {
    ledger::Ledger(folder.path(), false).append(least_record(1));
  }
  EXPECT_THROW(ledger::Ledger(folder.path(), false), Error);
}

TEST(Ledger, ADamagedLineInTheMiddleIsNamed) {
  for (const char* line :
       {"{oops}", "3", "{\"schema\":3}", "{\"schema\":\"feedrate.result/1\"}", "null", "[]"}) {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "ledger.jsonl") << least_record(1).dump() << "\n"
                                                  << line << "\n"
                                                  << least_record(2).dump() << "\n";
    try {
      const ledger::Ledger ledger(folder.path(), true);
      FAIL() << line;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("ledger.jsonl:2"));
    }
  }
}

TEST(Ledger, TwoWritersAreNotAllowed) {
  const TemporaryFolder folder;
  const ledger::Ledger first(folder.path(), false);
  EXPECT_THROW(ledger::Ledger(folder.path(), true), Error);
}

// A file size limit stands in for a full disk: the write ends short in the same way.
std::string refusal_of_appending(ledger::Ledger& ledger, const nlohmann::ordered_json& record) {
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit tight{std::filesystem::file_size(ledger.path()) + 10, old.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &tight);
  const std::string said = message_of([&] { ledger.append(record); });
  setrlimit(RLIMIT_FSIZE, &old);
  return said;
}

TEST(Ledger, ARecordThatDoesNotFitLeavesNothingHalf) {
  const TemporaryFolder folder;
  ledger::Ledger ledger(folder.path(), false);
  ledger.append(least_record(1));
  const auto before = std::filesystem::file_size(ledger.path());
  EXPECT_THAT(refusal_of_appending(ledger, least_record(2)),
              testing::EndsWith("File too large; allow this process longer files (`ulimit -f`) and "
                                "go on with --resume"));
  EXPECT_EQ(std::filesystem::file_size(ledger.path()), before);
}

TEST(Ledger, ARecordOfAWholeThatDoesNotFitMeansToBeginAgain) {
  const TemporaryFolder folder;
  ledger::Ledger ledger(folder.path(), false);
  for (const char* part : {"search", "jobs"}) {
    nlohmann::ordered_json record = least_record(1);
    record[part] = nlohmann::ordered_json::object();
    EXPECT_THAT(refusal_of_appending(ledger, record),
                testing::EndsWith("and begin again in another folder: -o DIR"))
        << part;
  }
}

TEST(Ledger, SaysWhatToDoAboutAPlaceThatItCannotUse) {
  const TemporaryFolder folder;
  const auto said = [&](const std::filesystem::path& place) {
    return message_of([&] { ledger::Ledger(place, false); });
  };
  std::ofstream(folder.path() / "file") << "text";
  for (const char* place : {"file", "file/below"}) {
    EXPECT_THAT(said(folder.path() / place),
                testing::EndsWith("Not a directory; take the file out of its path, or choose "
                                  "another folder: -o DIR"));
  }
  std::filesystem::create_directories(folder.path() / "results/ledger.jsonl");
  EXPECT_THAT(said(folder.path() / "results"),
              testing::EndsWith("Is a directory; choose another folder: -o DIR"));
}

TEST(Ledger, ThatCannotBeReadIsNotTakenForAnEmptyOne) {
  const TemporaryFolder folder;
  EXPECT_THAT(message_of([&] { ledger::read_ledger(folder.path() / "ledger.jsonl"); }),
              testing::EndsWith("No such file or directory; measure first: `feedrate sweep -o "
                                "DIR`"));
  EXPECT_THROW(ledger::read_ledger("/proc/self/mem"), UnreadableError) << "EIO";
}

TEST(Ledger, WhatIsNoFileIsRefused) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("/dev/full", folder.path() / "ledger.jsonl");
  EXPECT_THROW(ledger::Ledger(folder.path(), false), Error);
}

}  // namespace
}  // namespace feedrate::tests
