#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/measuring.h"
#include "diagnose/diagnosis.h"
#include "plan/cell.h"

namespace feedrate::cli {

// The rungs of a cell's ladder that can be had: each is the cell with other data or another cache.
using LadderCells = std::map<diagnose::Rung, plan::Cell>;
LadderCells ladder_of(const plan::Cell& cell);

// How the time of a diagnosis is spent.
struct DiagnosisPlan {
  int rounds = 1;
  int pairs = 6;               // of blocks, for each place, in each round
  run::BlockPlan blocks;       // how long a block is
  double block_run_s = 0;      // of each round, at most
};

// Delays that are of use for a cell.
struct Probe {
  measure::Place place = measure::Place::worker;
  bool burns = false;
};
std::vector<Probe> probes_of(const plan::CellSettings& settings);

// What `first` (the ladder of the first round, which took `ladder_s`) leaves of the budget.
DiagnosisPlan plan_of(double budget_s, double ladder_s, double step_s, std::size_t probes);

// Measures rounds of a ladder and of blocks, live. Used by one thread.
class Diagnosing {
 public:
  Diagnosing(Measuring& measuring, const plan::Cell& cell, LadderCells ladder, std::uint64_t seed);

  // The ladder of a round. False: interrupted. Throws an Error where the ceiling or the cell itself
  // cannot be measured.
  bool measure_ladder(int round, const std::string& title);
  // The blocks of the same round.
  bool measure_blocks(const DiagnosisPlan& plan, const std::string& title);

  // Of the round that was measured last.
  const diagnose::RoundEvidence& round() const { return round_; }
  const diagnose::Servers& servers() const { return servers_; }
  const plan::CellSettings& settings() const { return settings_; }
  double step_s() const { return step_s_; }  // of the cell, mean
  const std::string& device() const { return device_; }
  // Why rungs could not be measured.
  const std::map<diagnose::Rung, std::string>& left_out() const { return left_out_; }

 private:
  void add(diagnose::Rung rung, const record::Record& record);
  void add_cell(const run::Measurement& m);
  std::vector<run::Block> blocks_of(const DiagnosisPlan& plan) const;

  Measuring& measuring_;
  const plan::Cell cell_;
  const LadderCells ladder_;
  const plan::CellSettings settings_;
  const std::uint64_t seed_;
  diagnose::RoundEvidence round_;
  diagnose::Servers servers_;
  int number_ = 0;
  double step_s_ = 0;
  std::string device_;
  std::map<diagnose::Rung, std::string> left_out_;
};

}  // namespace feedrate::cli
