#include "ledger/precision.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "measure/statistics.h"
#include "plan/expand.h"
#include "plan/sweep_order.h"

namespace feedrate::ledger {
namespace {

constexpr int kMostFailures = 3;  // in a row, of a cell and its ceiling, before it is given up

// The rates of a ledger by cell and repetition: of the last valid record, else of the last one.
class Rates {
 public:
  struct Run {
    std::size_t at = 0;  // in the ledger's order
    int place = 0;
    double imgs_per_s = 0;
    bool valid = false;
    std::optional<double> share{};
  };

  explicit Rates(const std::vector<MeasuredRate>& rates) {
    for (std::size_t at = 0; at < rates.size(); ++at) {
      const MeasuredRate& rate = rates[at];
      int& failures = failures_[rate.cell_id][rate.place];
      failures = rate.has_failed ? failures + 1 : 0;
      if (rate.imgs_per_s)
        of_[rate.cell_id][rate.repetition].push_back(
            {at, rate.place, *rate.imgs_per_s, rate.valid, rate.share});
    }
  }
  // The run that counts.
  std::optional<Run> of(const std::string& cell, int repetition) const {
    std::optional<Run> counts;
    for (const Run& run : runs_of(cell, repetition)) let_count(counts, run);
    return counts;
  }
  // Mean of the two runs of a ceiling around the run at `at`; nothing where one is missing. After
  // the closing one, an opening one begins another sitting.
  std::optional<double> around(const std::string& ceiling, int repetition, std::size_t at) const {
    std::optional<Run> opening, closing;
    for (const Run& run : runs_of(ceiling, repetition)) {
      if (run.place == 0 && closing) {
        if (run.at > at) break;
        opening = closing = std::nullopt;
      }
      let_count(run.place == 0 ? opening : closing, run);
    }
    if (!opening || !closing) return std::nullopt;
    return (opening->imgs_per_s + closing->imgs_per_s) / 2;
  }
  std::vector<int> repetitions_of(const std::string& cell) const {
    std::vector<int> all;
    if (const auto found = of_.find(cell); found != of_.end())
      for (const auto& [repetition, runs] : found->second) all.push_back(repetition);
    return all;
  }
  int failures_of(const std::string& cell) const {
    int most = 0;
    if (const auto found = failures_.find(cell); found != failures_.end())
      for (const auto& [place, failures] : found->second) most = std::max(most, failures);
    return most;
  }

 private:
  // The last valid one counts, else the last one.
  static void let_count(std::optional<Run>& counts, const Run& run) {
    if (run.valid || !counts || !counts->valid) counts = run;
  }
  std::vector<Run> runs_of(const std::string& cell, int repetition) const {
    const auto repetitions = of_.find(cell);
    if (repetitions == of_.end()) return {};
    const auto runs = repetitions->second.find(repetition);
    return runs == repetitions->second.end() ? std::vector<Run>{} : runs->second;
  }

  std::map<std::string, std::map<int, std::vector<Run>>> of_;  // by cell_id and repetition
  // In a row, by cell_id and place.
  std::map<std::string, std::map<int, int>> failures_;
};

std::vector<double> logs_of(const plan::Cell& cell, const Rates& rates) {
  std::vector<double> logs;
  const std::string id = cell.id(), ceiling = plan::ceiling_of(cell).id();
  for (const int repetition : rates.repetitions_of(id)) {
    const auto run = rates.of(id, repetition);
    if (!run) continue;
    if (run->share) {
      logs.push_back(std::log(*run->share));
      continue;
    }
    const auto its =
        id == ceiling ? std::optional(1.0) : rates.around(ceiling, repetition, run->at);
    if (its) logs.push_back(std::log(run->imgs_per_s / *its));
  }
  return logs;
}

// A synthetic cell is its own ceiling, once, and one that is measured in pairs has it with it;
// another's ceiling runs twice.
bool has_no_ceiling_apart(const plan::Cell& cell) {
  return cell.id() == plan::ceiling_of(cell).id() || plan::may_be_in_pairs(cell);
}

// Twice as many repetitions make an interval so much narrower.
constexpr double kNearlyWidest = 0.7;

bool is_open(const CellPrecision& known, const plan::Precision& precision) {
  return !known.has_failed && !known.is_met(precision);
}

}  // namespace

MeasuredRate rate_of(const nlohmann::ordered_json& record) {
  MeasuredRate rate{.cell_id = record.at("cell_id"),
                    .repetition = record.at("repetition"),
                    .place = record.value("place", 0),
                    .has_failed = record.at("status") == "failed",
                    .valid = record.value("valid", true),
                    .imgs_per_s = std::nullopt};
  const auto& imgs_per_s = record.at("imgs_per_s");
  if (record.at("status") == "ok" && imgs_per_s.is_number() && imgs_per_s > 0)
    rate.imgs_per_s = imgs_per_s.get<double>();
  // Records of the first schemas hold a share that was formed from the ceilings so far.
  if (rate.imgs_per_s && record.contains("pairs"))
    rate.share = record.at("ceiling_fraction").get<double>();
  return rate;
}

std::vector<CellPrecision> precision_of(const std::vector<plan::Cell>& cells,
                                        const plan::Precision& precision,
                                        const std::vector<MeasuredRate>& measured) {
  const Rates rates(measured);
  std::vector<CellPrecision> all;
  for (const plan::Cell& cell : cells) {
    const std::vector<double> logs = logs_of(cell, rates);
    const int repetitions = static_cast<int>(logs.size());
    const std::string id = cell.id(), ceiling = plan::ceiling_of(cell).id();
    const bool is_alone = has_no_ceiling_apart(cell);
    const int failures = rates.failures_of(id) + (is_alone ? 0 : rates.failures_of(ceiling));
    all.push_back(
        {.cell = cell,
         .repetitions = repetitions,
         .share = logs.empty() ? 0 : std::exp(measure::mean_of(logs)),
         .half_width = std::expm1(plan::half_width(logs, precision.pilot)),
         .needed = repetitions < precision.pilot ? 0 : plan::repetitions_needed(logs, precision),
         .has_failed = failures >= kMostFailures});
  }
  return all;
}

std::vector<plan::Cell> next_cells(const std::vector<CellPrecision>& known,
                                   const plan::Precision& precision,
                                   std::optional<double> most_runs) {
  std::vector<const CellPrecision*> open;
  for (const CellPrecision& cell : known)
    if (is_open(cell, precision)) open.push_back(&cell);
  std::ranges::stable_sort(open, std::greater{}, [](const auto* c) { return c->half_width; });
  std::vector<plan::Cell> next;
  std::set<std::string> ceilings;
  double runs = 0;
  for (const CellPrecision* cell : open) {
    if (most_runs && cell->half_width < kNearlyWidest * open.front()->half_width) break;
    const std::string ceiling = plan::ceiling_of(cell->cell).id();
    const bool is_alone = has_no_ceiling_apart(cell->cell);
    runs += is_alone || ceilings.contains(ceiling) ? 1 : 3;
    if (most_runs && runs > *most_runs) break;
    if (!is_alone) ceilings.insert(ceiling);
    next.push_back(cell->cell);
  }
  return next;
}

}  // namespace feedrate::ledger
