#include "text/sweep_summary.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "judge/raised_flags.h"
#include "ledger/recorded_measurement.h"
#include "measure/statistics.h"
#include "plan/expand.h"
#include "text/quotable.h"
#include "text/result_text.h"

namespace feedrate::text {
namespace {

using Json = nlohmann::ordered_json;

std::set<std::string> names_of_flags(const Json& record) {
  std::set<std::string> names;
  for (const Json& flag : record.value("flags", Json::array()))
    if (flag["severity"] != judge::name_of(judge::Severity::note))
      names.insert(flag["name"].get<std::string>());
  return names;
}

// 0 where nobody looked, too.
std::int64_t stray_pictures_of(const Json& record) {
  const Json pictures = record.value("pictures_with_stray_bytes", Json());
  return pictures.is_null() ? 0 : pictures.get<std::int64_t>();
}

std::string end_line(const char* which, const ledger::CellPrecision& known, bool names_devices) {
  const std::string label = names_devices ? label_with_device(known.cell) : known.cell.label();
  const std::string interval =
      std::isfinite(known.half_width)
          ? format(" ± %.1f", 100 * known.share * known.half_width)
          : format(", no interval below %zu repetitions", measure::kLeastRepetitions);
  return which + percent(known.share) + " of its ceiling" + interval + ": " + label;
}

}  // namespace

void SweepSummary::add(const Json& record) { add(record, ledger::flags_from(record)); }

void SweepSummary::add(const Json& record, std::vector<judge::Flag> told) {
  const ledger::MeasuredRate& rate = rates_.emplace_back(ledger::rate_of(record));
  if (!rate.imgs_per_s) return;
  Run& counts = runs_[{rate.cell_id, rate.repetition, rate.place}];
  if (rate.valid || !counts.valid)
    counts = {rate.valid, names_of_flags(record), stray_pictures_of(record), std::move(told)};
}

std::string SweepSummary::caveats() const {
  std::vector<judge::RaisedFlag> raised;
  for (const auto& [key, run] : runs_) judge::add_run(raised, run.told);
  return first_lines(raised, static_cast<int>(runs_.size()));
}

std::string SweepSummary::text(const std::vector<plan::Cell>& cells, bool names_devices) const {
  return best_and_worst(cells, names_devices) + flagged(cells) + stray_bytes(cells);
}

SweepSummary::Run SweepSummary::seen_of(const std::string& cell_id) const {
  Run all{.valid = true, .flags = {}};
  for (const auto& [key, run] : runs_) {
    if (std::get<0>(key) != cell_id) continue;
    all.valid = all.valid && run.valid;
    all.flags.insert(run.flags.begin(), run.flags.end());
    all.stray_pictures = std::max(all.stray_pictures, run.stray_pictures);
  }
  return all;
}

bool SweepSummary::may_be_quoted(const plan::Cell& cell) const {
  if (!seen_of(cell.id()).valid) return false;
  return plan::may_be_in_pairs(cell) || seen_of(plan::ceiling_of(cell).id()).valid;
}

std::string SweepSummary::best_and_worst(const std::vector<plan::Cell>& cells,
                                         bool names_devices) const {
  std::vector<plan::Cell> real;
  std::ranges::copy_if(cells, std::back_inserter(real),
                       [](const plan::Cell& cell) { return !cell.is("data", "synthetic"); });
  std::vector<ledger::CellPrecision> known = ledger::precision_of(real, {}, rates_);
  std::erase_if(known, [&](const ledger::CellPrecision& cell) {
    return cell.repetitions == 0 || !may_be_quoted(cell.cell);
  });
  if (known.size() < 2) return "";
  const auto [worst, best] = std::ranges::minmax_element(known, {}, &ledger::CellPrecision::share);
  const std::string some = known.size() == real.size()
                               ? ""
                               : format(" (of %zu of %zu cells: the others have no share to quote)",
                                        known.size(), real.size());
  return end_line("best:  ", *best, names_devices) + some + "\n" +
         end_line("worst: ", *worst, names_devices) + "\n";
}

std::string SweepSummary::flagged(const std::vector<plan::Cell>& cells) const {
  std::size_t count = 0;
  std::map<std::string, int> cells_with;
  for (const plan::Cell& cell : cells) {
    const std::set<std::string> flags = seen_of(cell.id()).flags;
    if (!flags.empty()) ++count;
    for (const std::string& name : flags) ++cells_with[name];
  }
  if (count == 0) return "";
  return format("flags: in %zu of %zu cells: ", count, cells.size()) +
         listed(cells_with,
                [](const auto& one) { return one.first + " in " + std::to_string(one.second); }) +
         "\n";
}

std::string SweepSummary::stray_bytes(const std::vector<plan::Cell>& cells) const {
  std::size_t count = 0;
  std::int64_t most = 0;
  for (const plan::Cell& cell : cells) {
    const std::int64_t pictures = seen_of(cell.id()).stray_pictures;
    if (pictures > 0) ++count;
    most = std::max(most, pictures);
  }
  if (count == 0) return "";
  return format("note:  %zu of %zu cells met pictures with stray bytes, %lld at most; ", count,
                cells.size(), static_cast<long long>(most)) +
         std::string(judge::flag_rule(judge::kStrayBytesFlag).remedy) + "\n";
}

}  // namespace feedrate::text
