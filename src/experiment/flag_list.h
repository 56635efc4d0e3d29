#pragma once
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "experiment/rank.h"

namespace feedrate {

// The flags of one record in the making.
class FlagList {
 public:
  void add(bool raised, const char* name, const char* severity, const std::string& reason, const char* remedy) {
    if (raised) json_.push_back({{"name", name}, {"severity", severity}, {"reason", reason}, {"remedy", remedy}});
  }
  nlohmann::ordered_json take() { return std::move(json_); }

 private:
  nlohmann::ordered_json json_ = nlohmann::ordered_json::array();
};

inline std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

// What the machine did meanwhile that is not of the cell: other programs, the hypervisor, memory, clocks, GPUs held back.
void flag_machine(FlagList& flags, const std::vector<RankResult>& ranks);

}  // namespace feedrate
