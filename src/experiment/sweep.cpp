#include "experiment/sweep.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

#include "experiment/resume.h"
#include "pipeline/random.h"

namespace feedrate {
namespace {

constexpr double kCeilingDrift = 0.03;

// Fisher-Yates by our own generator: the same order everywhere for the same seed.
void shuffle(std::vector<Cell>& cells, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t i = cells.size(); i > 1; --i) {
    std::swap(cells[i - 1], cells[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
  }
}

using Done = std::set<std::tuple<std::string, int, int>>;  // cell_id, repetition, place

int place_of(const nlohmann::ordered_json& record) { return record.value("place", 0); }

// The rates of the ceilings that open each repetition.
class Ceilings {
 public:
  void add(const nlohmann::ordered_json& record) {
    if (record["cell"]["data"] != "synthetic" || record["status"] != "ok" || place_of(record) != 0)
      return;
    opening_[{record["cell_id"], record["repetition"]}] = record["imgs_per_s"];
  }
  // Of the repetition that the run is part of, images/s; nothing for a ceiling, or where the
  // opening one has failed.
  std::optional<double> of(const PlannedRun& run) const {
    const auto found = opening_.find({ceiling_of(run.cell).id(), run.repetition});
    return run.role == "ceiling" || found == opening_.end() ? std::nullopt
                                                            : std::optional(found->second);
  }
  // The closing ceiling of a repetition that differs from the opening one says that the machine changed in between.
  void flag_drift(nlohmann::ordered_json& record) const {
    const auto opening = opening_.find({record["cell_id"], record["repetition"]});
    if (record["status"] != "ok" || record["place"] != 1 || opening == opening_.end()) return;
    const double drift = record["imgs_per_s"].get<double>() / opening->second - 1;
    if (std::abs(drift) <= kCeilingDrift) return;
    char text[128];
    std::snprintf(text, sizeof text, "the ceiling moved by %+.1f %% between the first and the last run of the repetition", 100 * drift);
    record["flags"].push_back(
        {{"name", "ceiling_drifted"},
         {"severity", "warning"},
         {"reason", text},
         {"remedy", "see what else runs, and what clocks and temperatures do"}});
  }

 private:
  std::map<std::pair<std::string, int>, double> opening_;  // by cell_id and repetition
};

}  // namespace

std::vector<PlannedRun> plan_sweep(const std::vector<Cell>& cells, int repetitions, std::uint64_t seed) {
  std::vector<Cell> ceilings;
  for (const Cell& cell : cells) {
    const Cell ceiling = ceiling_of(cell);
    if (std::find(ceilings.begin(), ceilings.end(), ceiling) == ceilings.end()) ceilings.push_back(ceiling);
  }
  std::vector<PlannedRun> plan;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (std::size_t c = 0; c < ceilings.size(); ++c) {
      std::vector<Cell> real;
      for (const Cell& cell : cells) {
        if (!cell.is("data", "synthetic") && ceiling_of(cell) == ceilings[c]) real.push_back(cell);
      }
      shuffle(real, mix64(seed, static_cast<std::uint64_t>(repetition) * ceilings.size() + c));
      plan.push_back({ceilings[c], "ceiling", repetition, 0});
      for (Cell& cell : real) plan.push_back({std::move(cell), "cell", repetition, 0});
      if (!real.empty()) plan.push_back({ceilings[c], "ceiling", repetition, 1});
    }
  }
  return plan;
}

std::vector<PlannedRun> missing_of(std::vector<PlannedRun> plan, const std::vector<nlohmann::ordered_json>& records) {
  Done done;
  for (const auto& record : records) {
    if (record["status"] == "ok") done.insert({record["cell_id"], record["repetition"], place_of(record)});
  }
  std::erase_if(plan, [&](const PlannedRun& run) { return done.contains({run.cell.id(), run.repetition, run.place}); });
  return plan;
}

SweepOutcome run_sweep(const std::vector<PlannedRun>& plan, CellRunner& runner, const RunOptions& options,
                       Ledger& ledger, const nlohmann::ordered_json& environment, const SweepHooks& hooks,
                       std::stop_token stop, const std::vector<std::string>& differing) {
  Ceilings ceilings;
  for (const auto& record : ledger.records()) ceilings.add(record);
  const std::vector<PlannedRun> missing = missing_of(plan, ledger.records());
  SweepOutcome outcome{.skipped = plan.size() - missing.size()};
  for (std::size_t i = 0; i < missing.size() && !outcome.interrupted; ++i) {
    const PlannedRun& run = missing[i];
    const auto ceiling = ceilings.of(run);
    hooks.started(run, i + 1, missing.size(), ceiling);
    const CellResult result = runner.run(run.cell, hooks.progress, stop);
    const auto order = static_cast<int>(ledger.size());
    auto record = make_record(result, {run.role, run.repetition, order, ceiling}, options, environment);
    record["place"] = run.place;
    ceilings.flag_drift(record);
    std::vector<std::string> all_differing = device_differences(ledger.records(), record);
    all_differing.insert(all_differing.begin(), differing.begin(), differing.end());
    flag_forced(record, all_differing);
    hooks.derive(record);
    record = ledger.append(std::move(record));
    hooks.finished(record);
    ceilings.add(record);
    outcome.interrupted = result.status == Status::interrupted;
    if (!outcome.interrupted) ++(result.status == Status::ok ? outcome.ok : outcome.failed);
  }
  return outcome;
}

}  // namespace feedrate
