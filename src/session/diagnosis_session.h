#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "judge/advice.h"
#include "judge/diagnosis.h"
#include "ledger/diagnosis_json.h"
#include "ledger/rounds_file.h"
#include "plan/cell.h"
#include "session/live_rounds.h"
#include "session/session.h"
#include "session/trials.h"

namespace feedrate::session {

// After the first ladder, on a CPU that does nothing but train while the loader waits: what a
// faster device would wait for cannot show beside such steps. Else empty.
std::string busy_cpu_text(const plan::Cell& cell, const judge::RoundEvidence& round);

// How a cell is to be diagnosed.
struct DiagnosisOrder {
  double budget_s = 120;
  std::string planted;  // see plant_option.h; empty but in tests
  bool resume = false, is_tried = false;
};

// What it found.
struct DiagnosisAnswer {
  ledger::DiagnosisOf of;
  judge::Evidence evidence;
  judge::Diagnosis diagnosis;
};

// What a diagnosis had measured that was interrupted before its first round was whole.
struct FirstRoundSoFar {
  plan::Cell cell;
  std::string device{};                           // empty: the cell was not measured
  double imgs_per_s = 0, ceiling_imgs_per_s = 0;  // 0: not measured
  double device_idle = -1;  // share of the time in which the cell's device waited; < 0: unknown
};

// Of a ledger that is there, which stays as it is: see evidence_from().
DiagnosisAnswer diagnosis_from(const std::filesystem::path& ledger,
                               const std::vector<std::string>& where);

// One diagnosis: rounds until they are as many as were planned, then the answer, also in the
// folder. Goes on with what the folder holds, if asked to.
class DiagnosisSession {
 public:
  // `answered` is called once, as soon as there is an answer. Throws an Error where the folder
  // cannot be used.
  DiagnosisSession(DiagnosisOrder order, Session& session, const plan::Cell& cell,
                   std::function<void(const DiagnosisAnswer&)> answered);

  // The exit code. Throws an Error where the ceiling or the cell cannot be measured.
  int run();

  // After run(): nothing where a round is whole, or neither the ceiling nor the cell was measured.
  std::optional<FirstRoundSoFar> first_round_so_far() const;

 private:
  double seconds() const;
  std::vector<plan::PlannedRun> first_ladder() const;
  void go_on();
  bool measure();
  bool measure_round();
  bool is_enough() const;
  bool set_plan(double before_s, double ladder_s);
  std::optional<int> batch_of_blocks(double budget_s, double ladder_s);
  void use_batch(int batch, bool fits_all_pairs);
  [[noreturn]] void refuse_budget(const DelayPlan& plan, double ladder_s) const;
  void say_too_short(double needs_s, double before_s, double ladder_s) const;
  bool lacks_blocks() const;
  void keep();
  judge::DataAndMemory surroundings() const;
  bool answer(bool is_whole);
  Tried try_advice(std::vector<judge::Remedy>& advice, ledger::SeenInRounds& seen);
  bool write(const nlohmann::ordered_json& json) const;

  const DiagnosisOrder order_;
  const std::filesystem::path& folder_;  // of the ledger; empty: nothing is kept
  Session& session_;
  Watcher& watcher_;
  const std::function<void(const DiagnosisAnswer&)> answered_;
  const plan::Cell cell_;
  const LadderCells ladder_;
  const std::int64_t began_ns_;
  LiveRounds live_;
  judge::Evidence evidence_;
  ledger::RoundsHead head_;
  bool goes_on_ = false;     // with rounds that were there already
  bool has_failed_ = false;  // after whole rounds
  double before_s_ = 0;      // that the rounds took which were there already
  double round_s_ = 0;       // the longest of the others
};

}  // namespace feedrate::session
