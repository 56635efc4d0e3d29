#include "judge/ladder.h"

#include <algorithm>

namespace feedrate::judge {
namespace {

constexpr std::array<std::string_view, kRungs> kAdded = {
    "", "normalise", "copy", "collate", "augment", "decode", "read", "storage", "", ""};

std::size_t index(LadderRung rung) { return static_cast<std::size_t>(rung); }

bool is_measured(const std::vector<Round>& rounds, LadderRung rung) {
  return std::ranges::any_of(rounds, [&](const Round& round) { return round.contains(rung); });
}

// "augment and decode" where nothing between the two was measured.
std::string steps_between(LadderRung from, LadderRung to) {
  std::string steps;
  for (std::size_t i = index(from) + 1; i <= index(to); ++i) {
    if (!steps.empty()) steps += " and ";
    steps += kAdded[i];
  }
  return steps;
}

}  // namespace

std::string_view name_of(LadderRung rung) { return kRungNames[index(rung)]; }
std::string_view added_by(LadderRung rung) { return kAdded[index(rung)]; }

bool Loss::is_shown() const {
  return imgs_per_s.mean > 0 && (!imgs_per_s.ci95 || imgs_per_s.ci95->low > 0);
}

std::optional<measure::Estimate> rate_of(const std::vector<Round>& rounds, LadderRung rung) {
  std::vector<double> rates;
  for (const Round& round : rounds)
    if (const auto found = round.find(rung); found != round.end()) rates.push_back(found->second);
  if (rates.empty()) return std::nullopt;
  return measure::estimate_of_rates(rates);
}

std::optional<Loss> loss_between(const std::vector<Round>& rounds, LadderRung from, LadderRung to,
                                 double images_per_step) {
  std::vector<double> lost, shares, ms;
  for (const Round& round : rounds) {
    if (!round.contains(from) || !round.contains(to)) continue;
    const double above = round.at(from), below = round.at(to);
    const auto ceiling = round.find(LadderRung::synthetic);
    lost.push_back(above - below);
    shares.push_back((above - below) / (ceiling == round.end() ? above : ceiling->second));
    ms.push_back(1e3 * images_per_step * (1 / below - 1 / above));
  }
  if (lost.empty()) return std::nullopt;
  return Loss{.step = steps_between(from, to),
              .from = from,
              .to = to,
              .imgs_per_s = measure::estimate_of(lost),
              .share = measure::estimate_of(shares),
              .ms_per_step = measure::estimate_of(ms)};
}

std::vector<Loss> waterfall(const std::vector<Round>& rounds, LadderRung own,
                            double images_per_step) {
  std::vector<Loss> losses;
  LadderRung from = LadderRung::synthetic;
  for (std::size_t i = 1; i <= index(own); ++i) {
    const auto to = static_cast<LadderRung>(i);
    if (!is_measured(rounds, to)) continue;
    if (auto loss = loss_between(rounds, from, to, images_per_step)) {
      losses.push_back(std::move(*loss));
      from = to;
    }
  }
  return losses;
}

}  // namespace feedrate::judge
