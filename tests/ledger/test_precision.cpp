#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ledger/precision.h"
#include "plan/expand.h"

namespace feedrate::tests {
namespace {

using ledger::MeasuredRate;

// That cannot be in pairs with their ceiling.
const std::vector<plan::Cell>& cells() {
  static const std::vector<plan::Cell> all = plan::expand({{"device", {"emulated:1000"}},
                                                           {"data", {"jpeg"}},
                                                           {"workers", {"1", "2", "3"}},
                                                           {"page-cache", {"cold"}}});
  return all;
}

MeasuredRate rate(const plan::Cell& cell, int repetition, double imgs_per_s, int place = 0) {
  return {.cell_id = cell.id(),
          .repetition = repetition,
          .place = place,
          .valid = true,
          .imgs_per_s = imgs_per_s};
}

// The ceilings of a repetition, and every cell at its rate.
void add_repetition(std::vector<MeasuredRate>& all, int n, const std::vector<double>& rates) {
  const plan::Cell ceiling = plan::ceiling_of(cells()[0]);
  all.push_back(rate(ceiling, n, 990));
  for (std::size_t i = 0; i < rates.size(); ++i) all.push_back(rate(cells()[i], n, rates[i]));
  all.push_back(rate(ceiling, n, 1010, 1));
}

// The first cell never scatters, the second by 1 %, the third by 2 %.
std::vector<MeasuredRate> pilot(int repetitions) {
  std::vector<MeasuredRate> all;
  for (int n = 0; n < repetitions; ++n) {
    const double off = n % 2 == 0 ? 0.01 : -0.01;
    add_repetition(all, n, {500, 400 * (1 + off), 300 * (1 + 2 * off)});
  }
  return all;
}

constexpr std::nullopt_t kNoLimit = std::nullopt;

TEST(Precision, SharesAreOverBothCeilingsOfTheRepetition) {
  std::vector<MeasuredRate> all = pilot(5);
  all.push_back(rate(cells()[0], 5, 700));  // cut off before its closing ceiling
  all.push_back(rate(plan::ceiling_of(cells()[0]), 5, 1000));
  const auto known = ledger::precision_of(cells(), {.target = 0.01, .pilot = 5}, all);
  EXPECT_EQ(known[0].repetitions, 5);
  EXPECT_EQ(known[0].half_width, 0);
  EXPECT_TRUE(known[0].is_met({.target = 0.01, .pilot = 5}));
  EXPECT_FALSE(known[1].is_met({.target = 0.01, .pilot = 5}));
  EXPECT_GT(known[2].needed, 3 * known[1].needed) << "twice the spread";
}

// On another day the machine has nine tenths of its speed.
TEST(Precision, ACellThatWasAddedPairsWithTheCeilingsAroundIt) {
  std::vector<MeasuredRate> all = pilot(5);
  const plan::Cell ceiling = plan::ceiling_of(cells()[0]);
  const std::vector<plan::Cell> more =
      plan::expand({{"device", {"emulated:1000"}}, {"data", {"png"}}, {"workers", {"1"}}});
  for (int n = 0; n < 5; ++n) {
    all.push_back(rate(ceiling, n, n % 2 == 0 ? 900 : 880));
    all.push_back(rate(more[0], n, n % 2 == 0 ? 450 : 440));
    all.push_back(rate(ceiling, n, n % 2 == 0 ? 900 : 880, 1));
  }
  const plan::Precision precision{.target = 0.01, .pilot = 5};
  EXPECT_LT(ledger::precision_of(more, precision, all)[0].half_width, 1e-9);
  const auto before = ledger::precision_of(cells(), precision, pilot(5));
  const auto after = ledger::precision_of(cells(), precision, all);
  for (std::size_t i = 0; i < cells().size(); ++i)
    EXPECT_EQ(after[i].half_width, before[i].half_width) << "and leaves the others as they were";
}

TEST(Precision, RepetitionsGoWhereTheIntervalsAreWidest) {
  const plan::Precision precision{.target = 0.01, .pilot = 5};
  const auto known = ledger::precision_of(cells(), precision, pilot(5));
  EXPECT_EQ(ledger::next_cells(known, precision, kNoLimit),
            (std::vector<plan::Cell>{cells()[2], cells()[1]}));
  EXPECT_EQ(ledger::next_cells(known, precision, 3), (std::vector<plan::Cell>{cells()[2]}))
      << "a cell and both ceilings";
  EXPECT_TRUE(ledger::next_cells(known, precision, 2).empty());
}

TEST(Precision, RunsInPairsHaveTheirSharesAndNeedNoOtherRuns) {
  const auto paired = plan::expand(
      {{"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"workers", {"1", "2", "3"}}});
  std::vector<MeasuredRate> all;
  for (int n = 0; n < 5; ++n) {
    const double off = n % 2 == 0 ? 0.01 : -0.01, machine = n < 3 ? 1 : 0.5;
    for (std::size_t i = 0; i < paired.size(); ++i) {
      const double share = 0.5 * (1 + off * static_cast<double>(i));
      all.push_back(rate(paired[i], n, 1000 * machine * share));
      all.back().share = share;
    }
  }
  const plan::Precision precision{.target = 0.01, .pilot = 5};
  const auto known = ledger::precision_of(paired, precision, all);
  EXPECT_EQ(known[0].repetitions, 5);
  EXPECT_LT(known[0].half_width, 1e-9) << "the machine's speed is in no share";
  EXPECT_GT(known[2].half_width, known[1].half_width);
  EXPECT_EQ(ledger::next_cells(known, precision, 1), (std::vector<plan::Cell>{paired[2]}));
}

TEST(Precision, OnABudgetTheNarrowerOnesWait) {
  const plan::Precision precision{.target = 0.01, .pilot = 5};
  const auto known = ledger::precision_of(cells(), precision, pilot(5));
  EXPECT_EQ(ledger::next_cells(known, precision, 100), (std::vector<plan::Cell>{cells()[2]}))
      << "the other is half as wide";
}

TEST(Precision, NobodyIsMetBeforeThePilotIsComplete) {
  const plan::Precision precision{.target = 0.5, .pilot = 5};
  const auto known = ledger::precision_of(cells(), precision, pilot(4));
  EXPECT_EQ(ledger::next_cells(known, precision, kNoLimit).size(), 3U);
  EXPECT_TRUE(
      ledger::next_cells(ledger::precision_of(cells(), precision, pilot(5)), precision, kNoLimit)
          .empty());
}

TEST(Precision, ACellThatKeepsFailingIsGivenUp) {
  std::vector<MeasuredRate> all = pilot(5);
  for (int n = 0; n < 3; ++n)
    all.push_back({.cell_id = cells()[2].id(), .repetition = 5 + n, .has_failed = true});
  const plan::Precision precision{.target = 0.01, .pilot = 5};
  EXPECT_EQ(ledger::next_cells(ledger::precision_of(cells(), precision, all), precision, kNoLimit),
            (std::vector<plan::Cell>{cells()[1]}));
}

// A failure in between that was mended does not count.
TEST(Precision, OnlyFailuresInARowCount) {
  std::vector<MeasuredRate> all = pilot(5);
  for (int n = 0; n < 6; ++n) {
    all.push_back({.cell_id = cells()[2].id(), .repetition = 5 + n, .has_failed = n % 2 == 0});
    if (n % 2 == 1) all.back().imgs_per_s = 300;
  }
  EXPECT_FALSE(ledger::precision_of(cells(), {.target = 0.01, .pilot = 5}, all)[2].has_failed);
}

// Nothing would ever be complete.
TEST(Precision, SoIsACellWhoseCeilingKeepsFailing) {
  std::vector<MeasuredRate> all;
  for (int n = 0; n < 3; ++n) {
    all.push_back(
        {.cell_id = plan::ceiling_of(cells()[0]).id(), .repetition = n, .has_failed = true});
    all.push_back(rate(cells()[0], n, 500));
  }
  const plan::Precision precision{.target = 0.01, .pilot = 5};
  EXPECT_TRUE(ledger::next_cells(ledger::precision_of(cells(), precision, all), precision, kNoLimit)
                  .empty());
}

TEST(Precision, AnothersCeilingIsNoMatterOfACellThatBringsItsOwn) {
  const auto paired =
      plan::expand({{"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"workers", {"1"}}});
  std::vector<MeasuredRate> all;
  for (int n = 0; n < 3; ++n)
    all.push_back(
        {.cell_id = plan::ceiling_of(paired[0]).id(), .repetition = n, .has_failed = true});
  EXPECT_FALSE(ledger::precision_of(paired, {.target = 0.01, .pilot = 5}, all)[0].has_failed);
}

TEST(Precision, SoIsOneWhoseSecondCeilingKeepsFailing) {
  std::vector<MeasuredRate> all;
  const plan::Cell ceiling = plan::ceiling_of(cells()[0]);
  for (int n = 0; n < 3; ++n) {
    all.push_back(rate(ceiling, n, 1000));
    all.push_back(rate(cells()[0], n, 500));
    all.push_back({.cell_id = ceiling.id(), .repetition = n, .place = 1, .has_failed = true});
  }
  EXPECT_TRUE(ledger::precision_of(cells(), {.target = 0.01, .pilot = 5}, all)[0].has_failed);
}

// A run that must not be quoted was measured again.
TEST(Precision, TheValidRunOfARepetitionCounts) {
  std::vector<MeasuredRate> all = pilot(5);
  MeasuredRate invalid = rate(cells()[0], 3, 5);
  invalid.valid = false;
  all.push_back(invalid);
  EXPECT_EQ(ledger::precision_of(cells(), {.target = 0.01, .pilot = 5}, all)[0].half_width, 0);
}

// Nothing to pair them with: their own rates.
TEST(Precision, CeilingsAlone) {
  const std::vector<plan::Cell> ceilings = {plan::ceiling_of(cells()[0])};
  std::vector<MeasuredRate> all;
  for (int n = 0; n < 5; ++n) all.push_back(rate(ceilings[0], n, n % 2 == 0 ? 1000 : 1010));
  const plan::Precision precision{.target = 0.001, .pilot = 5};
  const auto known = ledger::precision_of(ceilings, precision, all);
  EXPECT_GT(known[0].half_width, 0.001);
  EXPECT_EQ(ledger::next_cells(known, precision, 1), ceilings);
}

}  // namespace
}  // namespace feedrate::tests
