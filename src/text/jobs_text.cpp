#include "text/jobs_text.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "judge/fairness.h"
#include "measure/statistics.h"
#include "plan/set_rate.h"
#include "plan/settings.h"
#include "text/quotable.h"
#include "text/result_text.h"

namespace feedrate::text {
namespace {

// What the answer rests on.
struct UsedRepetitions {
  std::vector<std::size_t> jobs;                            // that measured beside others, from 0
  std::vector<const session::JobsRepetition*> repetitions;  // in which all of these did
  std::vector<std::size_t> left_out;                        // the other repetitions, from 0
};

UsedRepetitions basis_of(const session::JobsOutcome& outcome) {
  UsedRepetitions basis;
  const std::vector<session::JobsRepetition>& all = outcome.repetitions;
  for (std::size_t job = 0; job < all.front().together.size(); ++job) {
    if (std::ranges::any_of(all, [job](const auto& r) { return r.together[job].has_value(); }))
      basis.jobs.push_back(job);
  }
  // What a job reaches beside fewer others is another thing.
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto measured = [&](std::size_t job) { return all[i].together[job].has_value(); };
    if (std::ranges::all_of(basis.jobs, measured)) {
      basis.repetitions.push_back(&all[i]);
    } else {
      basis.left_out.push_back(i);
    }
  }
  return basis;
}

// "1,204", "1,204 (1,190 to 1,219)"
std::string rate_text(const measure::Estimate& rate) {
  const std::string text = thousands(rate.mean);
  if (!rate.ci95) return text;
  return text + " (" + thousands(rate.ci95->low) + " to " + thousands(rate.ci95->high) + ")";
}

// "51.3 %", "51.3 % (50.8 to 51.9)"
std::string share_text(const measure::Estimate& share) {
  const std::string text = percent(share.mean);
  if (!share.ci95) return text;
  return text + format(" (%.1f to %.1f)", 100 * share.ci95->low, 100 * share.ci95->high);
}

measure::Estimate over(const measure::Estimate& rate, double whole) {
  measure::Estimate share{.mean = rate.mean / whole, .ci95 = {}};
  if (rate.ci95) share.ci95 = measure::Interval{rate.ci95->low / whole, rate.ci95->high / whole};
  return share;
}

judge::FairnessEstimate fairness_of(const UsedRepetitions& basis) {
  std::vector<judge::Fairness> found;
  for (const session::JobsRepetition* repetition : basis.repetitions) {
    std::vector<judge::JobRates> rates;
    for (const std::size_t job : basis.jobs)
      rates.push_back({*repetition->alone[job], *repetition->together[job]});
    found.push_back(judge::fairness_of(rates));
  }
  return judge::fairness_over(found);
}

// --- The table.

using Row = std::array<std::string, 4>;

// In the repetitions that count; of a job that never measured beside others, in all.
std::string alone_text(std::size_t job, const plan::Cell& cell, const session::JobsOutcome& outcome,
                       const UsedRepetitions& basis) {
  std::vector<double> rates;
  const auto add = [&](const session::JobsRepetition& repetition) {
    if (const auto& rate = repetition.alone[job]) rates.push_back(*rate);
  };
  if (std::ranges::find(basis.jobs, job) != basis.jobs.end()) {
    for (const session::JobsRepetition* repetition : basis.repetitions) add(*repetition);
  } else {
    for (const session::JobsRepetition& repetition : outcome.repetitions) add(repetition);
  }
  if (rates.empty()) return "-";
  return rate_text(measure::estimate_of_rates(rates, plan::bound_of(plan::settings_of(cell))));
}

std::vector<Row> rows_of(const std::vector<session::PlannedJob>& jobs,
                         const session::JobsOutcome& outcome, const UsedRepetitions& basis,
                         const std::optional<judge::FairnessEstimate>& fairness) {
  std::vector<Row> rows;
  for (std::size_t job = 0; job < jobs.size(); ++job)
    rows.push_back({alone_text(job, jobs[job].cell, outcome, basis), "-", "-", "-"});
  for (std::size_t k = 0; fairness && k < basis.jobs.size(); ++k) {
    const std::size_t job = basis.jobs[k];
    std::vector<double> rates;
    for (const session::JobsRepetition* repetition : basis.repetitions)
      rates.push_back(*repetition->together[job]);
    const plan::CellSettings settings = plan::settings_of(jobs[job].cell);
    const measure::Estimate together = measure::estimate_of_rates(rates, plan::bound_of(settings));
    rows[job][1] = rate_text(together);
    rows[job][2] = share_text(fairness->shares[k]);
    if (const auto set = plan::set_rate_of(settings))
      rows[job][3] = share_text(over(together, *set));
  }
  return rows;
}

// ", means of 6 repetitions (95 % intervals)", of those that count
std::string means_text(std::size_t counted, std::size_t repetitions) {
  if (repetitions == 1) return "";
  std::string text =
      counted == 1 ? ", of 1 repetition (" : format(", means of %zu repetitions (", counted);
  text += counted < measure::kLeastRepetitions
              ? format("no interval below %zu", measure::kLeastRepetitions)
              : "95 % intervals";
  return text + ")";
}

std::string table(const std::vector<session::PlannedJob>& jobs, const std::vector<Row>& rows,
                  const std::string& means) {
  const Row headings = {"alone", "together", "of alone", "of device"};
  std::array<std::size_t, 4> widths = {10, 10, 9, 9};
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c)
      if (row[c].size() > widths[c]) widths[c] = row[c].size() + 1;
  }
  const auto line = [&](const Row& row) {
    std::string text;
    for (std::size_t c = 0; c < row.size(); ++c)
      text += format(c == 0 ? "%*s" : " %*s", static_cast<int>(widths[c]), row[c].c_str());
    return text;
  };
  std::string text = "images/s alone and together" + means +
                     "; of device: of the rate that was set\n" + line(headings) + "\n";
  for (std::size_t job = 0; job < jobs.size(); ++job)
    text += line(rows[job]) + "  " + jobs[job].name + "\n";
  return text;
}

// --- Fairness.

// Which job starves first, as far as the intervals say.
std::string starving_text(const std::vector<session::PlannedJob>& jobs,
                          const UsedRepetitions& basis, const judge::FairnessEstimate& fairness) {
  const std::string& name = jobs[basis.jobs[fairness.least.front()]].name;
  const measure::Estimate& least = fairness.shares[fairness.least.front()];
  const std::string share = share_text(least) + " of alone";
  const std::string by_chance =
      least.ci95 ? "" : format(" (no interval below %zu runs)", measure::kLeastRepetitions);
  if (fairness.starves == false) return "none; the least is " + share + ", " + name + by_chance;
  if (fairness.least.size() > 1) {
    std::vector<std::size_t> numbers;
    for (const std::size_t k : fairness.least) numbers.push_back(basis.jobs[k] + 1);
    std::ranges::sort(numbers);
    const std::size_t last = numbers.back();
    numbers.pop_back();
    const auto text_of = [](std::size_t number) { return "job " + std::to_string(number); };
    return "not clear between " + listed(numbers, text_of) + " and " + text_of(last) +
           (fairness.starves ? "" : ", nor whether one does");
  }
  if (!fairness.starves) return "not clear whether " + name + " does: " + share;
  return name + ", " + share + by_chance;
}

std::string fairness_text(const std::vector<session::PlannedJob>& jobs,
                          const UsedRepetitions& basis, const judge::FairnessEstimate& fairness) {
  const auto& interval = fairness.index.ci95;
  double overlap = 1;
  for (const session::JobsRepetition* repetition : basis.repetitions)
    overlap = std::min(overlap, repetition->overlap);
  const bool is_one = basis.repetitions.size() == 1;
  return format(
      "\nfairness: %.3f%s, Jain's index of the %zu shares x of alone: (sum of x)^2 / (n * "
      "sum of x^2)\n  1: all alike, 1/n: one has all (Jain, Chiu and Hawe 1984, "
      "DEC-TR-301)\n"
      "first to starve: %s\n"
      "overlap: all measured at once for %s%s of the longest window%s\n",
      fairness.index.mean,
      interval ? format(" (%.3f to %.3f)", interval->low, interval->high).c_str() : "",
      basis.jobs.size(), starving_text(jobs, basis, fairness).c_str(), is_one ? "" : "at least ",
      percent(overlap).c_str(), is_one ? "" : " of each repetition");
}

std::string left_out_text(const UsedRepetitions& basis) {
  if (basis.left_out.empty()) return "";
  return "left out: repetition " +
         listed(basis.left_out, [](std::size_t i) { return std::to_string(i + 1); }) +
         ", in which not all of these jobs measured\n";
}

std::string spoiled_text(const session::SpoiledRuns& spoiled, std::size_t repetitions) {
  std::string text =
      "not to be quoted: " + spoiled.of + ": " + spoiled.flag.name + ": " + spoiled.flag.reason;
  if (repetitions > 1)
    text += format(" (in %zu of %zu repetitions)", spoiled.repetitions.size(), repetitions);
  return text + "\n";
}

session::RunCaveats seen_by_all(const session::JobsOutcome& outcome) {
  session::RunCaveats seen;
  for (const session::JobsRepetition& repetition : outcome.repetitions) seen.add(repetition.seen);
  return seen;
}

// The page cache, and the flags of all runs; those that spoil one are named by themselves.
std::string seen_text(const session::RunCaveats& seen) {
  std::string text = page_cache_line(seen);
  for (const judge::Flag& flag : seen.flags()) {
    if (flag.severity != judge::Severity::serious) text += flag_line(flag);
  }
  return text;
}

}  // namespace

std::string jobs_text(const std::vector<session::PlannedJob>& jobs,
                      const session::JobsOutcome& outcome) {
  const UsedRepetitions basis = basis_of(outcome);
  std::optional<judge::FairnessEstimate> fairness;
  if (!basis.jobs.empty() && !basis.repetitions.empty()) fairness = fairness_of(basis);
  const std::size_t repetitions = outcome.repetitions.size();
  const std::string means =
      means_text(fairness ? basis.repetitions.size() : repetitions, repetitions);
  const session::RunCaveats seen = seen_by_all(outcome);
  std::string text =
      first_lines(seen) + table(jobs, rows_of(jobs, outcome, basis, fairness), means);
  if (fairness && basis.jobs.size() > 1) text += fairness_text(jobs, basis, *fairness);
  text += left_out_text(basis);
  std::vector<plan::Cell> cells;
  for (const session::PlannedJob& job : jobs) cells.push_back(job.cell);
  text += emulation_lines(cells);
  text += seen_text(seen);
  for (const session::SpoiledRuns& spoiled : outcome.spoiled)
    text += spoiled_text(spoiled, repetitions);
  return text;
}

}  // namespace feedrate::text
