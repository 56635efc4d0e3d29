#include "cli/jobs_text.h"

#include <cmath>
#include <optional>

#include "base/text.h"
#include "device/emulated_device.h"
#include "diagnose/fairness.h"
#include "plan/settings.h"

namespace feedrate::cli {
namespace {

// The rate that was set; nothing for a device that trains.
std::optional<double> set_rate_of(const plan::Cell& cell) {
  const plan::CellSettings settings = plan::settings_of(cell);
  if (!settings.emulated()) return std::nullopt;
  const double rate =
      settings.gpus *
      device::emulated_device(settings.device_argument, settings.step_spec(0)).imgs_per_s;
  return std::isfinite(rate) ? std::optional(rate) : std::nullopt;
}

std::string rate_text(const std::optional<double>& imgs_per_s) {
  return imgs_per_s ? thousands(*imgs_per_s) : "-";
}
std::string share_text(const std::optional<double>& part, const std::optional<double>& whole) {
  return part && whole ? percent(*part / *whole) : "-";
}

std::string table(const std::vector<PlannedJob>& jobs, const JobsOutcome& outcome) {
  std::string text = "images/s alone and together; of device: of the rate that was set\n";
  text += format("%10s %10s %9s %9s\n", "alone", "together", "of alone", "of device");
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto &alone = outcome.alone[i], &together = outcome.together[i];
    text += format("%10s %10s %9s %9s  %s\n", rate_text(alone).c_str(), rate_text(together).c_str(),
                   share_text(together, alone).c_str(),
                   share_text(together, set_rate_of(jobs[i].cell)).c_str(), jobs[i].name.c_str());
  }
  return text;
}

// Of the jobs that measured together.
std::string fairness_text(const std::vector<PlannedJob>& jobs, const JobsOutcome& outcome) {
  std::vector<diagnose::JobRates> rates;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!outcome.together[i]) continue;
    rates.push_back({*outcome.alone[i], *outcome.together[i]});
    numbers.push_back(i);
  }
  if (rates.size() < 2) return "";
  const diagnose::FairnessEstimate fairness =
      diagnose::fairness_over(std::vector{diagnose::fairness_of(rates)});
  std::string text = format(
      "\nfairness: %.3f, Jain's index of the %zu shares x of alone: (sum of x)^2 / (n * "
      "sum of x^2)\n  1: all alike, 1/n: one has all (Jain, Chiu and Hawe 1984, "
      "DEC-TR-301)\n",
      fairness.index.mean, rates.size());
  const double least = fairness.shares[fairness.least.front()].mean;
  const std::string& name = jobs[numbers[fairness.least.front()]].name;
  if (least > 1 - diagnose::kStarves) {
    text += format("first to starve: none; the least is %s of alone, %s\n", percent(least).c_str(),
                   name.c_str());
  } else {
    text += format("first to starve: %s, %s of alone\n", name.c_str(), percent(least).c_str());
  }
  return text + format("overlap: all measured at once for %s of the longest window\n",
                       percent(outcome.overlap.share).c_str());
}

}  // namespace

std::string jobs_text(const std::vector<PlannedJob>& jobs, const JobsOutcome& outcome) {
  std::string text = table(jobs, outcome) + fairness_text(jobs, outcome);
  for (const std::string& words : outcome.spoiled) text += "not to be quoted: " + words + "\n";
  return text;
}

}  // namespace feedrate::cli
