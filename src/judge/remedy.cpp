#include "judge/remedy.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace feedrate::judge {

std::string Remedy::options() const {
  std::string text;
  for (const auto& [axis, value] : changes)
    if (!value.empty()) text += (text.empty() ? "--" : " --") + axis + " " + value;
  return text;
}

std::vector<int> Remedy::workers_to_try() const {
  const auto its = changes.find("workers");
  if (its == changes.end()) return {};
  const int forecast = std::stoi(its->second);
  std::vector<int> all;
  for (const double share : {0.25, 0.5, 0.75, 1.0, 1.5}) {
    const int workers = std::max(1, static_cast<int>(std::lround(share * forecast)));
    if (all.empty() || workers > all.back()) all.push_back(workers);
  }
  return all;
}

std::optional<int> Remedy::enough_workers() const {
  if (by_workers.size() < 2) return std::nullopt;
  double best = 0;
  for (const auto& [workers, rate] : by_workers) best = std::max(best, rate.mean);
  const auto enough = std::ranges::find_if(
      by_workers, [&](const auto& tried) { return tried.second.mean >= kAsGood * best; });
  return std::next(enough) == by_workers.end() ? std::nullopt : std::optional(enough->first);
}

std::optional<Remedy::EnoughRange> Remedy::enough_range() const {
  if (by_workers.size() < 2) return std::nullopt;
  double least = 0;  // that the best reaches
  for (const auto& [workers, rate] : by_workers) {
    if (!rate.ci95) return std::nullopt;
    least = std::max(least, rate.ci95->low);
  }
  const auto may = std::ranges::find_if(
      by_workers, [&](const auto& tried) { return tried.second.ci95->high >= kAsGood * least; });
  const auto surely = std::ranges::find_if(by_workers, [&](const auto& tried) {
    return std::ranges::all_of(by_workers, [&](const auto& other) {
      return other.first == tried.first ||
             tried.second.ci95->low >= kAsGood * other.second.ci95->high;
    });
  });
  EnoughRange range{.low = may->first};
  if (surely != by_workers.end() && std::next(surely) != by_workers.end())
    range.high = surely->first;
  return range;
}

}  // namespace feedrate::judge
