#include "session/ladder_cells.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "measure/affinity.h"
#include "plan/expand.h"
#include "plan/settings.h"

namespace feedrate::tests {
namespace {

using judge::LadderRung;
using session::LadderCells;

plan::Cell cell_with(plan::AxisValues values) {
  values.insert({"device", {"emulated:1000"}});
  values.insert({"data", {"jpeg"}});
  values.insert({"workers", {"2"}});
  return plan::expand(values).at(0);
}
std::set<LadderRung> rungs_of(const LadderCells& ladder) {
  std::set<LadderRung> rungs;
  for (const auto& [rung, cell] : ladder) rungs.insert(rung);
  return rungs;
}
std::set<std::string> ids_of(const LadderCells& ladder) {
  std::set<std::string> ids;
  for (const auto& [rung, cell] : ladder) ids.insert(cell.id());
  return ids;
}

TEST(LadderOf, PicturesHaveEveryRung) {
  const plan::Cell cell = cell_with({});
  const LadderCells ladder = session::ladder_of(cell);
  EXPECT_EQ(rungs_of(ladder).size(), judge::kRungs);
  EXPECT_EQ(ids_of(ladder).size(), ladder.size()) << "each is another cell";
  EXPECT_EQ(ladder.at(LadderRung::none), cell);
  EXPECT_EQ(ladder.at(LadderRung::synthetic), plan::ceiling_of(cell));
  EXPECT_TRUE(ladder.at(LadderRung::cold).is("page-cache", "cold"));
  for (const LadderRung rung : {LadderRung::device, LadderRung::host, LadderRung::sample,
                                LadderRung::decoded, LadderRung::encoded, LadderRung::discard}) {
    EXPECT_TRUE(ladder.at(rung).is("cache", judge::name_of(rung)));
    EXPECT_TRUE(ladder.at(rung).is("data", "jpeg"));
  }
}

TEST(LadderOf, LoadersAloneHaveEveryCpu) {
  const LadderCells ladder =
      session::ladder_of(cell_with({{"gpus", {"2"}}, {"host-cpu-ms", {"5"}}}));
  const plan::CellSettings alone = plan::settings_of(ladder.at(LadderRung::cpus));
  EXPECT_EQ(alone.device, "emulated:inf");
  EXPECT_EQ(alone.workers, std::max(1, measure::allowed_cpus() / 2));
  EXPECT_LE(alone.emulation.host_cpu_ms, 0);
  EXPECT_EQ(alone.data, "jpeg");
}

TEST(LadderOf, TensorsAreNotDecoded) {
  const LadderCells ladder = session::ladder_of(cell_with({{"data", {"tensor"}}}));
  EXPECT_FALSE(ladder.contains(LadderRung::decoded));
  for (const LadderRung rung :
       {LadderRung::synthetic, LadderRung::device, LadderRung::host, LadderRung::sample,
        LadderRung::none, LadderRung::cold, LadderRung::discard})
    EXPECT_TRUE(ladder.contains(rung)) << judge::name_of(rung);
}

TEST(LadderOf, AColdCellHasAWarmRungAboveIt) {
  const plan::Cell cell = cell_with({{"page-cache", {"cold"}}});
  const LadderCells ladder = session::ladder_of(cell);
  EXPECT_EQ(session::own_rung(cell), LadderRung::cold);
  EXPECT_EQ(ladder.at(LadderRung::cold), cell);
  EXPECT_TRUE(ladder.at(LadderRung::none).is("page-cache", "warm"));
  EXPECT_EQ(rungs_of(ladder).size(), judge::kRungs)
      << "what keeps files in memory cares for no page cache";
  EXPECT_EQ(session::own_rung(cell_with({})), LadderRung::none);
}

TEST(LadderOf, WithoutWorkersNobodyLoadsBesideTheSteps) {
  EXPECT_FALSE(session::ladder_of(cell_with({{"workers", {"0"}}})).contains(LadderRung::discard));
}

// Direct I/O goes past the page cache: there is nothing cold about it.
TEST(LadderOf, DirectReadsHaveNoColdRung) {
  const LadderCells ladder = session::ladder_of(cell_with({{"io", {"direct"}}}));
  EXPECT_FALSE(ladder.contains(LadderRung::cold));
  EXPECT_TRUE(ladder.contains(LadderRung::none));
}

TEST(With, ChangesOneValueAndKeepsTheOthers) {
  const auto more = session::with(cell_with({{"batch-size", {"16"}}}), {{"workers", "7"}});
  ASSERT_TRUE(more);
  EXPECT_TRUE(more->is("workers", "7"));
  EXPECT_TRUE(more->is("batch-size", "16"));
  EXPECT_EQ(session::with(*more, {{"workers", "2"}})->id(),
            cell_with({{"batch-size", {"16"}}}).id());
}

TEST(With, AnEmptyValueIsTheDefault) {
  const plan::Cell cell = cell_with({{"prefetch", {"9"}}});
  EXPECT_EQ(session::with(cell, {{"prefetch", ""}})->id(), cell_with({}).id());
}

TEST(With, WhatCannotBeIsNothing) {
  EXPECT_FALSE(session::with(cell_with({{"data", {"tensor"}}}), {{"cache", "decoded"}}));
  EXPECT_FALSE(session::with(cell_with({}), {{"workers", "many"}}));
  EXPECT_FALSE(session::with(cell_with({}), {{"no such axis", "1"}}));
}

// What is advised for a cold cell, --try measures as such a cell.
TEST(With, AColdCellMayKeepItsFiles) {
  const plan::Cell cold = cell_with({{"page-cache", {"cold"}}});
  for (const char* cache : {"encoded", "decoded", "sample"})
    EXPECT_TRUE(session::with(cold, {{"cache", cache}})) << cache;
  EXPECT_TRUE(session::with(cold, {{"data", "tensor"}, {"image-size", ""}}));
}

}  // namespace
}  // namespace feedrate::tests
