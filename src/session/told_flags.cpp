#include "session/told_flags.h"

#include <algorithm>
#include <string>

namespace feedrate::session {
namespace {

// Flags that say that something else used the machine, or changed it, or spoilt what is read.
constexpr std::string_view kOfTheMachine[] = {"noisy_neighbour", "storage_shared",  "cpu_steal",
                                              "cpu_quota",       "memory_pressure", "clock_changed",
                                              "straggler",       "ceiling_exceeded"};
// A serious flag counts as well, but for those of what is made up for: by the rounds, where runs
// are short, and by taking what was drawn from a queue off the rate.
constexpr std::string_view kMadeUpFor[] = {"short_window", "queue_not_at_rest"};

bool is_told(const judge::Flag& flag) {
  const auto is_its_name = [&](std::string_view name) { return flag.name == name; };
  if (std::ranges::any_of(kOfTheMachine, is_its_name)) return true;
  return flag.severity == judge::Severity::serious && std::ranges::none_of(kMadeUpFor, is_its_name);
}

}  // namespace

void add_told_flags(const std::vector<judge::Flag>& flags, std::string_view of,
                    ledger::SeenInRounds& seen) {
  ++seen.runs;
  std::vector<judge::Flag> told;
  for (const judge::Flag& flag : flags) {
    if (!is_told(flag)) continue;
    told.push_back(flag);
    told.back().reason += " (" + std::string(of) + ")";
  }
  judge::add_run(seen.flags, told);
}

}  // namespace feedrate::session
