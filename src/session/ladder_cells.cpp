#include "session/ladder_cells.h"

#include <algorithm>

#include "base/error.h"
#include "measure/affinity.h"
#include "plan/axes.h"
#include "plan/expand.h"
#include "plan/settings.h"

namespace feedrate::session {

using judge::LadderRung;

plan::Cell changed(const plan::Cell& cell, const std::map<std::string, std::string>& others) {
  plan::AxisValues values;
  for (const plan::Axis& axis : plan::axes())
    if (const auto& value = cell[axis.name]) values[std::string(axis.name)] = {*value};
  for (const auto& [axis, value] : others) {
    values.erase(axis);
    if (!value.empty()) values[axis] = {value};
  }
  const std::vector<plan::Cell> cells = plan::expand(values);
  if (cells.empty()) throw UsageError(cell.label(), "has no such cell beside it");
  return cells.front();
}

std::optional<plan::Cell> with(const plan::Cell& cell,
                               const std::map<std::string, std::string>& others) {
  try {
    return changed(cell, others);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

LadderRung own_rung(const plan::Cell& cell) {
  return cell.is("page-cache", "cold") ? LadderRung::cold : LadderRung::none;
}

LadderCells ladder_of(const plan::Cell& cell) {
  LadderCells ladder;
  const auto add = [&](LadderRung rung, const std::optional<plan::Cell>& rung_cell) {
    if (rung_cell) ladder.emplace(rung, *rung_cell);
  };
  ladder.emplace(LadderRung::synthetic, plan::ceiling_of(cell));
  for (const LadderRung rung : {LadderRung::device, LadderRung::host, LadderRung::sample,
                                LadderRung::decoded, LadderRung::encoded, LadderRung::discard}) {
    const std::string cache(judge::name_of(rung));
    add(rung, with(cell, {{"cache", cache}, {"page-cache", "auto"}}));
  }
  const int gpus = plan::settings_of(cell).gpus;
  add(LadderRung::cpus,
      with(cell, {{"device", "emulated:inf"},
                  {"host-cpu-ms", ""},
                  {"all-reduce-ms", ""},
                  {"workers", std::to_string(std::max(1, measure::allowed_cpus() / gpus))}}));
  const bool is_cold = cell.is("page-cache", "cold");
  add(LadderRung::none, is_cold ? with(cell, {{"page-cache", "warm"}}) : cell);
  // What lies in the page cache of an as-is cell must stay as it is.
  if (cell["page-cache"] && !cell.is("page-cache", "as-is"))
    add(LadderRung::cold, is_cold ? cell : with(cell, {{"page-cache", "cold"}}));
  return ladder;
}

}  // namespace feedrate::session
