#pragma once
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/measuring.h"
#include "diagnose/advice.h"
#include "diagnose/diagnosis.h"
#include "diagnose/patterns.h"
#include "plan/cell.h"
#include "record/rounds_file.h"

namespace feedrate::cli {

// The rungs of a cell's ladder that can be had: each is the cell with other data or another cache.
using LadderCells = std::map<diagnose::Rung, plan::Cell>;
LadderCells ladder_of(const plan::Cell& cell);
// The rung that the cell itself is.
diagnose::Rung own_rung(const plan::Cell& cell);
// The cell with other values, empty ones as by default; nothing where that cannot be, as no
// `decoded` of tensors.
std::optional<plan::Cell> with(const plan::Cell& cell,
                               const std::map<std::string, std::string>& others);

// What is known of them before anything is measured.
diagnose::Servers servers_of(const plan::CellSettings& settings);

// Whether the steps wait for each copy, as on a CPU, or the loading, which an emulated copy holds
// up where one thread does both.
bool has_serial_copies(const plan::CellSettings& settings);

// A delay that is of use for a cell.
struct Probe {
  measure::Place place = measure::Place::worker;
  bool burns = false;
};
// What decides which are.
struct ProbesWanted {
  std::span<const measure::Place> served;  // by the cell's device
  bool storage = false;                    // reads reach it, and more of them can
  bool launching = false;                  // nothing else binds: see Finding
};
std::vector<Probe> probes_of(const plan::CellSettings& settings, const ProbesWanted& wanted);

// What `first` (the ladder of the first round, which took `ladder_s`) leaves of the budget.
record::DiagnosisPlan plan_of(double budget_s, double ladder_s, double step_s, std::size_t probes);

// Measures rounds of a ladder and of blocks, live. Used by one thread.
class Diagnosing {
 public:
  Diagnosing(Measuring& measuring, const plan::Cell& cell, LadderCells ladder, std::uint64_t seed);

  // The ladder of a round. False: interrupted. Throws an Error where the ceiling or the cell itself
  // cannot be measured.
  bool measure_ladder(int round, const std::string& title);
  // The blocks of the same round. `nothing_binds`: as far as the rounds before tell.
  bool measure_blocks(const record::DiagnosisPlan& plan, bool nothing_binds,
                      const std::string& title);

  // Measures the cells of the remedies in some rounds; sets what they reached, or why not. False:
  // interrupted.
  bool try_out(std::vector<diagnose::Remedy>& advice, int first_round);

  // Of the round that was measured last.
  const diagnose::RoundEvidence& round() const { return round_; }
  const diagnose::Servers& servers() const { return servers_; }
  const plan::CellSettings& settings() const { return settings_; }
  double step_s() const { return step_s_; }  // of the cell, mean
  const std::string& device() const { return device_; }
  // Patterns in the cell's steps that more than half of the rounds showed.
  std::vector<diagnose::Pattern> patterns() const;
  // After the first ladder: how many places the blocks of each round delay, mostly.
  std::size_t probes() const { return probes_of(settings_, wanted_).size(); }

  // Beside the rounds' evidence, of all rounds; set by a diagnosis that goes on.
  const record::SeenInRounds& seen() const { return seen_; }
  void go_on_from(record::SeenInRounds seen) { seen_ = std::move(seen); }

 private:
  void check_rungs();
  bool measure_rungs(const std::vector<plan::PlannedRun>& plan,
                     const std::map<std::string, diagnose::Rung>& rungs, const std::string& title);
  void add_from_ledger(const std::map<std::string, diagnose::Rung>& rungs);  // by cell_id
  void add(diagnose::Rung rung, const record::Record& record);
  void add_cell(const run::Measurement& m);
  void add_patterns(const run::Measurement& m);
  void look_at_storage(const std::string& page_cache);
  std::vector<run::Block> blocks_of(const record::DiagnosisPlan& plan,
                                    const std::vector<Probe>& probes) const;

  Measuring& measuring_;
  const plan::Cell cell_;
  const LadderCells ladder_;
  const plan::CellSettings settings_;
  ProbesWanted wanted_;
  const std::uint64_t seed_;
  diagnose::RoundEvidence round_;
  diagnose::Servers servers_;
  int number_ = 0;
  double step_s_ = 0;
  std::string device_;
  record::SeenInRounds seen_;
  bool are_checked_ = false;
};

}  // namespace feedrate::cli
