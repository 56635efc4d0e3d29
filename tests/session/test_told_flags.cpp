#include "session/told_flags.h"

#include <gtest/gtest.h>

namespace feedrate::tests {
namespace {

using judge::Severity;

TEST(ToldFlags, TellsOfTheMachineAndWhatMustNotBeQuoted) {
  ledger::SeenInRounds seen;
  session::add_told_flags({{"emulated", Severity::note, "it is", "say so"},
                           {"short_window", Severity::serious, "3 steps", "more"},
                           {"noisy_neighbour", Severity::warning, "others took much", "end them"}},
                          "none", seen);
  session::add_told_flags({{"stopped", Severity::serious, "for 12 s", "wait"}},
                          "tried: more workers", seen);
  session::add_told_flags({}, "none", seen);
  EXPECT_EQ(seen.runs, 3);
  ASSERT_EQ(seen.flags.size(), 2u);
  EXPECT_EQ(seen.flags[0].flag.name, "noisy_neighbour");
  EXPECT_EQ(seen.flags[1].flag.reason, "for 12 s (tried: more workers)");
  EXPECT_EQ(seen.flags[1].runs, 1);
}

}  // namespace
}  // namespace feedrate::tests
