#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/live_rounds.h"
#include "cli/measuring.h"
#include "cli/trials.h"
#include "diagnose/advice.h"
#include "diagnose/diagnosis.h"
#include "plan/cell.h"
#include "record/rounds_file.h"

namespace feedrate::cli {

// How a cell is to be diagnosed.
struct DiagnosisOrder {
  std::filesystem::path folder;  // of the ledger; empty: nothing is kept
  std::uint64_t seed = 0;
  double budget_s = 120;
  std::string planted;  // see plant_option.h; empty but in tests
  bool resume = false, is_tried = false, json = false;
};

// One diagnosis: rounds until they are as many as were planned, then the answer on stdout and in
// the folder. Goes on with what the folder holds, if asked to.
class DiagnosisSession {
 public:
  // Throws an Error where the folder cannot be used.
  DiagnosisSession(DiagnosisOrder order, Measuring& measuring, const plan::Cell& cell);

  // The exit code. Throws an Error where the ceiling or the cell cannot be measured.
  int carry_out();

 private:
  double seconds() const;
  std::vector<plan::PlannedRun> first_ladder() const;
  void go_on();
  bool measure();
  bool measure_round();
  bool is_enough() const;
  void set_plan(double before_s, double ladder_s);
  bool lacks_blocks() const;
  void keep();
  diagnose::Surroundings surroundings() const;
  bool answer(bool is_tried);
  Tried try_advice(std::vector<diagnose::Remedy>& advice);
  bool write(const nlohmann::ordered_json& json) const;

  const DiagnosisOrder order_;
  Measuring& measuring_;
  const plan::Cell cell_;
  const LadderCells ladder_;
  const std::int64_t began_ns_;
  LiveRounds live_;
  diagnose::Evidence evidence_;
  record::RoundsHead head_;
  bool goes_on_ = false;     // with rounds that were there already
  bool has_failed_ = false;  // after whole rounds
  double before_s_ = 0;      // that the rounds took which were there already
  double round_s_ = 0;       // the longest of the others
};

}  // namespace feedrate::cli
