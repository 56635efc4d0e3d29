#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plan/sweep_order.h"
#include "plan/two_stage.h"

namespace feedrate::ledger {

// How well a ledger knows a cell's share of the ceiling; of a synthetic cell, its rate.
struct CellPrecision {
  plan::Cell cell;
  int repetitions = 0;    // complete ones, with both ceilings
  double share = 0;       // of the ceiling, geometric mean of those; 0: there is none
  double half_width = 0;  // of the 95 % interval, as a part of the share; infinite: no interval yet
  int needed = 0;         // repetitions in all, by what is known now; 0: the pilot is not complete
  bool has_failed = false;  // it and its ceiling, too often in a row to be tried again

  bool is_met(const plan::Precision& precision) const {
    return repetitions >= precision.pilot && half_width <= precision.target;
  }
};

// What a record says of a rate.
struct MeasuredRate {
  std::string cell_id;
  int repetition = 0, place = 0;  // place: see plan::position_of()
  bool has_failed = false, valid = false;
  std::optional<double> imgs_per_s;
  std::optional<double> share{};  // of the ceiling, of a run in pairs
};
MeasuredRate rate_of(const nlohmann::ordered_json& record);

// Of each cell, in their order. `rates`: of the ledger's records, in their order. Shares are formed
// as the report forms them: a run in pairs has its own, each other rate is divided by the mean of
// both ceilings of its repetition.
std::vector<CellPrecision> precision_of(const std::vector<plan::Cell>& cells,
                                        const plan::Precision& precision,
                                        const std::vector<MeasuredRate>& rates);

// The cells that a repetition after the pilot is for: those that are not met. Where there is time
// for `most_runs` runs only, of these the ones whose intervals are nearly as wide as the widest,
// the widest first, as many as fit with their ceilings. Empty: all are met or have failed, or none
// fits.
std::vector<plan::Cell> next_cells(const std::vector<CellPrecision>& known,
                                   const plan::Precision& precision,
                                   std::optional<double> most_runs);

}  // namespace feedrate::ledger
