#include "record/precision.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "plan/expand.h"

namespace feedrate::record {
namespace {

constexpr int kMostFailures = 3;  // in a row, of a cell and its ceiling, before it is given up

// The rates of a ledger by cell and repetition: of the last valid record, else of the last one. A
// ceiling has two places.
class Rates {
 public:
  explicit Rates(const std::vector<MeasuredRate>& rates) {
    for (const MeasuredRate& rate : rates) {
      int& failures = failures_[rate.cell_id][rate.place];
      failures = rate.has_failed ? failures + 1 : 0;
      if (!rate.imgs_per_s) continue;
      Counting& counting = of_[rate.cell_id][rate.repetition][rate.place];
      if (rate.valid || !counting.valid) counting = {*rate.imgs_per_s, rate.valid};
    }
  }
  // Mean of its places, at least `places` of them; nothing without.
  std::optional<double> of(const std::string& cell, int repetition, std::size_t places) const {
    const auto repetitions = of_.find(cell);
    if (repetitions == of_.end()) return std::nullopt;
    const auto runs = repetitions->second.find(repetition);
    if (runs == repetitions->second.end() || runs->second.size() < places) return std::nullopt;
    double sum = 0;
    for (const auto& [place, rate] : runs->second) sum += rate.imgs_per_s;
    return sum / static_cast<double>(runs->second.size());
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
  struct Counting {
    double imgs_per_s = 0;
    bool valid = false;
  };
  using Runs = std::map<int, Counting>;            // by place
  std::map<std::string, std::map<int, Runs>> of_;  // by cell_id and repetition
  // In a row, by cell_id and place.
  std::map<std::string, std::map<int, int>> failures_;
};

std::vector<double> logs_of(const plan::Cell& cell, const Rates& rates) {
  std::vector<double> logs;
  const std::string id = cell.id(), ceiling = plan::ceiling_of(cell).id();
  for (const int repetition : rates.repetitions_of(id)) {
    const auto rate = rates.of(id, repetition, 1);
    const auto its = id == ceiling ? std::optional(1.0) : rates.of(ceiling, repetition, 2);
    if (rate && its) logs.push_back(std::log(*rate / *its));
  }
  return logs;
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
    const int failures = rates.failures_of(id) + (id == ceiling ? 0 : rates.failures_of(ceiling));
    all.push_back(
        {.cell = cell,
         .repetitions = repetitions,
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
    // A synthetic cell is its own ceiling, once; another's ceiling runs twice.
    const bool is_ceiling = cell->cell.id() == ceiling;
    runs += is_ceiling || ceilings.contains(ceiling) ? 1 : 3;
    if (most_runs && runs > *most_runs) break;
    if (!is_ceiling) ceilings.insert(ceiling);
    next.push_back(cell->cell);
  }
  return next;
}

}  // namespace feedrate::record
