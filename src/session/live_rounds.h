#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/diagnosis.h"
#include "ledger/rounds_file.h"
#include "plan/cell.h"
#include "session/delay_plan.h"
#include "session/ladder_cells.h"
#include "session/session.h"

namespace feedrate::session {

// Measures rounds of a ladder and of blocks, live. Used by one thread.
class LiveRounds {
 public:
  // `ran` is called after each run of a ladder.
  LiveRounds(Session& session, const plan::Cell& cell, LadderCells ladder, std::uint64_t seed,
             std::function<void()> ran);

  // The ladder of a round. False: interrupted. Throws an Error where the ceiling or the cell itself
  // cannot be measured.
  bool measure_ladder(int round, const std::string& title);
  // After a ladder: whether the ceiling and the cell reach with batches of so many images, measured
  // once, what they did with their own, within a tenth. False where that cannot be measured, or was
  // interrupted. No ledger has a record of these runs.
  bool keeps_rates(int batch);
  // The blocks of the same round. `nothing_binds`: as far as the rounds before tell.
  bool measure_blocks(const ledger::DiagnosisPlan& plan, bool nothing_binds,
                      const std::string& title);

  // Of the round that was measured last.
  const judge::RoundEvidence& round() const { return round_; }
  const judge::Servers& servers() const { return servers_; }
  const plan::CellSettings& settings() const { return settings_; }
  const std::string& device() const { return device_; }
  double step_s() const { return step_s_; }  // mean
  // Share of the window in which the device waited, in the cell's last run; < 0: there was none.
  double device_idle() const { return device_idle_; }
  // After the first ladder: how many places the blocks of each round delay, mostly.
  std::size_t probes() const { return probes_of(settings_, wanted_).size(); }

  // Beside the rounds' evidence, of all rounds; set by a diagnosis that goes on.
  const ledger::SeenInRounds& seen() const { return seen_; }
  void go_on_from(ledger::SeenInRounds seen) { seen_ = std::move(seen); }

 private:
  void check_rungs();
  bool measure_rungs(std::vector<plan::PlannedRun> runs,
                     const std::map<std::string, judge::LadderRung>& rungs,
                     const std::string& title);
  void add_from_ledger(const std::map<std::string, judge::LadderRung>& rungs);  // by cell_id
  void add(judge::LadderRung rung, const ledger::Record& record);
  void judge_blocks(const run::CellResult& result);
  void add_measured(judge::LadderRung rung, const run::Measurement& m,
                    std::vector<judge::Capacity> capacities);
  std::vector<judge::Pattern> patterns_in(const run::Measurement& m) const;
  void count_patterns();
  void look_at_storage();
  void look_at_reads();
  bool is_needed(judge::LadderRung rung) const;  // else the others go on without it
  std::optional<plan::Cell> cell_of_blocks(const ledger::DiagnosisPlan& plan);
  run::CellResult measure_once(const plan::Cell& cell, const run::BlockPlan& blocks, double most_s,
                               std::uint64_t run, const run::ProgressSink& progress);
  bool may_be_shorter(run::BlockPlan& blocks, const run::Measurement& m, std::uint64_t run);
  std::size_t add_blocks(const std::vector<run::Block>& planned,
                         const std::vector<run::BlockResult>& results,
                         std::optional<measure::StageTotals>& undelayed);
  void blocks_failed(const std::string& why);
  std::vector<run::Block> blocks_of(const ledger::DiagnosisPlan& plan,
                                    const std::vector<Probe>& probes) const;

  Session& session_;
  const plan::Cell cell_;
  const LadderCells ladder_;
  const plan::CellSettings settings_;
  ProbesWanted wanted_;
  const std::uint64_t seed_;
  const std::function<void()> ran_;
  judge::RoundEvidence round_;
  judge::Servers servers_;
  std::string device_;  // its name, as the cell's last run tells it; and how long its steps took
  double step_s_ = 0;
  double device_idle_ = -1;
  int number_ = 0;
  ledger::SeenInRounds seen_;
  ledger::SeenInRounds before_last_;  // before the ladder's last run, which may be replaced
  std::optional<std::vector<judge::Pattern>> patterns_;     // of the round's last run of the cell
  std::map<judge::LadderRung, std::string> needed_failed_;  // why the ceiling, the cell
  bool are_checked_ = false;
};

}  // namespace feedrate::session
