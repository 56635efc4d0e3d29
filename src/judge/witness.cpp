#include "judge/witness.h"

#include <algorithm>

namespace feedrate::judge {
namespace {

// What the ladder says by itself: the step down to the cell that costs most.
std::string of_ladder(const Evidence& e, const std::vector<Loss>& losses) {
  const double ceiling = e.mean_rate(LadderRung::synthetic), own = e.mean_rate(e.own_rung());
  if (ceiling <= 0 || own <= 0 || e.is_impossible()) return "";
  if (e.is_at_ceiling()) return "compute";
  const Loss* most = nullptr;
  for (const Loss& loss : losses) {
    if (!loss.is_shown()) continue;
    if (!most || loss.imgs_per_s.mean > most->imgs_per_s.mean) most = &loss;
  }
  return most ? most->step : "";
}

std::string of_capacities(const Evidence& e) {
  if (e.rounds.empty() || e.rounds.back().capacities.empty()) return "";
  const Capacity& limit = e.rounds.back().capacities.front();
  if (limit.resource == "device") return "compute";
  return limit.largest_stage == kCpuWait ? "shared CPU" : limit.largest_stage;
}

bool capacity_means(const std::string& witness, const std::string& name) {
  const bool is_in_step = name == "normalise" || name == "copy" || name == "shared CPU";
  return is_meant(witness, name) || (witness == "compute" && is_in_step);
}

}  // namespace

Witness witness_of(const Evidence& e, const std::vector<Loss>& losses) {
  return {.ladder = of_ladder(e, losses), .capacities = of_capacities(e), .slopes = {}};
}

bool is_meant(const std::string& witness, const std::string& name) {
  if (witness == "compute") return name == "all-reduce" || name == "compute";
  if (witness == "read" || witness == "storage")
    return name == "read" || name == "storage" || name == "lock";
  return witness.find(name) != std::string::npos;  // "decode" by "augment and decode"
}

void judge(Witness& witness, const std::vector<std::string>& names) {
  const auto any = [&](const std::string& said,
                       bool (*means)(const std::string&, const std::string&)) {
    return said.empty() ||
           std::ranges::any_of(names, [&](const auto& name) { return means(said, name); });
  };
  witness.agree = any(witness.ladder, is_meant) && any(witness.capacities, capacity_means);
}

}  // namespace feedrate::judge
