#include "diagnose/ladder.h"

namespace feedrate {

std::vector<Rung> ladder(const std::map<std::string, double, std::less<>>& imgs_per_s, double batch_images) {
  static constexpr struct {
    std::string_view stage, with, without;
  } kRungs[] = {{"normalise", "device", "synthetic"},     {"copy", "host", "device"}, {"collate", "sample", "host"},
                {"decode+augment", "encoded", "sample"}, {"read", "warm", "encoded"}, {"storage", "cold", "warm"}};
  std::vector<Rung> rungs;
  for (const auto& [stage, with, without] : kRungs) {
    const auto slow = imgs_per_s.find(with);
    const auto fast = imgs_per_s.find(without);
    if (slow == imgs_per_s.end() || fast == imgs_per_s.end()) continue;
    rungs.push_back({std::string(stage), 1e3 * batch_images * (1 / slow->second - 1 / fast->second)});
  }
  return rungs;
}

}  // namespace feedrate
