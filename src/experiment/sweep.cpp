#include "experiment/sweep.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "measure/error.h"
#include "pipeline/random.h"

namespace feedrate {
namespace {

// Fisher-Yates by our own generator: the same order everywhere for the same seed.
void shuffle(std::vector<Cell>& cells, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t i = cells.size(); i > 1; --i) {
    std::swap(cells[i - 1], cells[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
  }
}

using Done = std::set<std::tuple<std::string, int, int>>;  // cell_id, repetition, place

int place_of(const nlohmann::ordered_json& record) { return record.value("place", 0); }

// Records of another program would make one ledger out of two experiments.
void check_same(const nlohmann::ordered_json& record, const nlohmann::ordered_json& environment, const Ledger& ledger) {
  for (const char* field : {"feedrate_version", "git_commit", "binary_xxh3"}) {
    const auto& then = record["environment"][field];
    if (then == environment[field]) continue;
    throw Error(ledger.path().string(), std::string("was measured with another ") + field + " (" + then.dump() + ", now " +
                                            environment[field].dump() + ")",
                "choose another folder for this program: -o DIR");
  }
}

class Ceilings {
 public:
  void add(const nlohmann::ordered_json& record) {
    if (record["cell"]["data"] == "synthetic" && record["status"] == "ok") {
      rates_[record["cell_id"]].push_back(record["imgs_per_s"]);
    }
  }
  std::optional<double> of(const Cell& cell) const {
    const auto found = rates_.find(ceiling_of(cell).id());
    if (found == rates_.end()) return std::nullopt;
    double sum = 0;
    for (const double rate : found->second) sum += rate;
    return sum / static_cast<double>(found->second.size());
  }

 private:
  std::map<std::string, std::vector<double>> rates_;
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

SweepOutcome run_sweep(const std::vector<PlannedRun>& plan, CellRunner& runner, const RunOptions& options,
                       Ledger& ledger, const nlohmann::ordered_json& environment, const SweepHooks& hooks,
                       std::stop_token stop) {
  Done done;
  Ceilings ceilings;
  for (const auto& record : ledger.records()) {
    check_same(record, environment, ledger);
    ceilings.add(record);
    if (record["status"] == "ok") done.insert({record["cell_id"], record["repetition"], place_of(record)});
  }
  SweepOutcome outcome;
  for (std::size_t i = 0; i < plan.size() && !outcome.interrupted; ++i) {
    const PlannedRun& run = plan[i];
    if (done.contains({run.cell.id(), run.repetition, run.place})) {
      ++outcome.skipped;
      continue;
    }
    hooks.started(run, i + 1, plan.size());
    const CellResult result = runner.run(run.cell, hooks.progress, stop);
    const int order = static_cast<int>(ledger.records().size() + i);
    auto record = make_record(result, {run.role, run.repetition, order, ceilings.of(run.cell)}, options, environment);
    record["place"] = run.place;
    hooks.finished(record);
    ledger.append(record);
    ceilings.add(record);
    outcome.interrupted = result.status == Status::interrupted;
    ++(result.status == Status::ok ? outcome.ok : outcome.failed);
  }
  return outcome;
}

}  // namespace feedrate
