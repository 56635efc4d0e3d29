#include "session/trials.h"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <string>

#include "base/error.h"
#include "base/random.h"
#include "ledger/recorded_measurement.h"
#include "plan/set_rate.h"
#include "session/ladder_cells.h"
#include "session/ledger_evidence.h"
#include "session/live_runs.h"
#include "session/told_flags.h"

namespace feedrate::session {
namespace {

constexpr int kTries = 3;  // rounds

struct TriedRun {
  double imgs_per_s = 0;
  std::vector<judge::Flag> flags;
};
// A cell to try, for the remedy of this number.
struct Trial {
  plan::Cell cell;
  std::size_t remedy = 0;
  std::optional<int> workers;    // of a search for W*
  std::map<int, TriedRun> runs;  // by round: of a run that was spoilt, the next one
  std::string failure;           // of its last run that failed
};

std::vector<std::map<std::string, std::string>> variants_of(const judge::Remedy& remedy) {
  std::vector<std::map<std::string, std::string>> all;
  for (const int workers : remedy.workers_to_try()) {
    all.push_back(remedy.changes);
    all.back()["workers"] = std::to_string(workers);
  }
  // What a cache would bring is a rung of the ladder: it is measured.
  if (all.empty() && !remedy.changes.empty() && !remedy.changes.contains("cache"))
    all.push_back(remedy.changes);
  return all;
}

std::optional<int> workers_in(const std::map<std::string, std::string>& changes) {
  const auto workers = changes.find("workers");
  return workers == changes.end() ? std::nullopt : std::optional(std::stoi(workers->second));
}

// Of a search for W*, one number of several.
void set_not_tried(judge::Remedy& remedy, std::optional<int> workers, const std::string& why) {
  remedy.not_tried = (workers ? "--workers " + std::to_string(*workers) + ": " : "") + why;
}

using Trials = std::map<std::string, Trial>;  // by cell_id

Trials trials_of(const plan::Cell& cell, const std::vector<judge::Remedy>& advice) {
  Trials trials;
  for (std::size_t i = 0; i < advice.size(); ++i)
    for (const auto& changes : variants_of(advice[i]))
      if (const auto changed = with(cell, changes))
        trials.emplace(changed->id(), Trial{*changed, i, workers_in(changes), {}, {}});
  return trials;
}

// Those that this dataset and this machine can run.
void leave_out_refused(Session& session, Trials& trials, std::vector<judge::Remedy>& advice) {
  std::erase_if(trials, [&](const auto& one) {
    const Trial& trial = one.second;
    try {
      session.check({{trial.cell, plan::Role::cell, 0}});
      return false;
    } catch (const std::runtime_error& error) {
      set_not_tried(advice[trial.remedy], trial.workers, session.cleaned(error.what()));
      return true;
    }
  });
}

// What the rounds of trials measured before: a sweep leaves that out.
void add_tried_before(const std::vector<nlohmann::ordered_json>& records, int first_round,
                      Trials& trials) {
  for (const nlohmann::ordered_json& record : std::views::reverse(records)) {
    const auto trial = trials.find(record.value("cell_id", ""));
    const int round = record.value("repetition", -1);
    const bool is_of_trials = round >= first_round && round < first_round + kTries;
    if (trial == trials.end() || record.at("status") != "ok" || !is_of_trials) continue;
    trial->second.runs.try_emplace(round,
                                   TriedRun{run::sustained_rate(ledger::measurement_from(record)),
                                            ledger::flags_from(record)});
  }
}

void set_what_they_reached(const Trials& trials, std::vector<judge::Remedy>& advice,
                           ledger::SeenInRounds& seen) {
  for (const auto& [id, trial] : trials) {
    judge::Remedy& remedy = advice[trial.remedy];
    if (trial.runs.empty()) {
      if (!trial.failure.empty()) set_not_tried(remedy, trial.workers, trial.failure);
      continue;
    }
    std::vector<double> rates;
    for (const auto& [round, run] : trial.runs) {
      rates.push_back(run.imgs_per_s);
      add_told_flags(run.flags, "tried: " + remedy.name, seen);
    }
    const measure::Estimate rate =
        measure::estimate_of_rates(rates, plan::bound_of(plan::settings_of(trial.cell)));
    if (trial.workers) remedy.by_workers[*trial.workers] = rate;
    if (!trial.workers || remedy.changes.at("workers") == std::to_string(*trial.workers))
      remedy.measured = rate;
  }
}

}  // namespace

std::vector<judge::Remedy> advice_for(const plan::Cell& cell, const judge::Evidence& evidence,
                                      const judge::Diagnosis& diagnosis,
                                      const judge::DataAndMemory& surroundings) {
  std::vector<judge::Remedy> advice = judge::advice_of(evidence, diagnosis, surroundings);
  std::erase_if(advice, [&](const judge::Remedy& r) { return !with(cell, r.changes); });
  return advice;
}

Tried try_out(Session& session, const plan::Cell& cell, std::vector<judge::Remedy>& advice,
              int first_round, std::uint64_t seed, ledger::SeenInRounds& seen) {
  Trials trials = trials_of(cell, advice);
  leave_out_refused(session, trials, advice);
  const LiveRuns runs{
      .title = "trying the advice",
      .name = [&](const plan::Cell& tried) { return advice[trials.at(tried.id()).remedy].name; },
      .add =
          [&](const ledger::Record& record) {
            Trial& trial = trials.at(record.context.run.cell.id());
            if (const auto& m = record.result.measurement) {
              trial.runs[record.context.run.repetition] = {run::sustained_rate(*m), record.flags};
            } else {
              trial.failure = session.cleaned(record.result.error);
            }
          },
      .replaced = {},
      .more = {}};
  for (int t = 0; t < kTries && !trials.empty(); ++t) {
    const int round = first_round + t;
    std::vector<plan::PlannedRun> plan;
    for (const auto& [id, trial] : trials) plan.push_back({trial.cell, plan::Role::cell, round});
    shuffle(plan, mix64(seed, static_cast<std::uint64_t>(round)));
    if (!runs.measure(session, plan)) return Tried::interrupted;
  }
  if (session.ledger()) add_tried_before(session.ledger()->records(), first_round, trials);
  set_what_they_reached(trials, advice, seen);
  const bool have_all =
      std::ranges::none_of(trials, [](const auto& trial) { return trial.second.runs.empty(); });
  return have_all ? Tried::all : Tried::not_all;
}

void add_tried(const std::vector<nlohmann::ordered_json>& records, const plan::Cell& cell,
               std::vector<judge::Remedy>& advice, int first_round, ledger::SeenInRounds& seen) {
  Trials trials = trials_of(cell, advice);
  add_tried_before(records, first_round, trials);
  set_what_they_reached(trials, advice, seen);
}

}  // namespace feedrate::session
