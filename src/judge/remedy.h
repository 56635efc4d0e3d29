#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/statistics.h"

namespace feedrate::judge {

inline constexpr double kAsGood = 0.98;  // of the best: nobody would pay for the rest

// Something to change, and what the cell would then reach.
struct Remedy {
  std::string name;                            // "more workers"
  std::map<std::string, std::string> changes;  // values of axes; --try measures the cell with them
  std::string why;                             // what the prediction rests on
  measure::Estimate predicted;                 // images/s
  std::optional<measure::Estimate> measured{};
  std::string not_tried{};  // why --try could not measure it
  // Of more workers: what so many reached, by workers of one GPU.
  std::map<int, measure::Estimate> by_workers{};
  // W*: the fewest of these that reach kAsGood of the best; nothing if that is the largest number
  // tried, so that more may help, or the only one. If it is the smallest one tried, fewer may do.
  std::optional<int> enough_workers() const;
  // Which of these may be W*, by the 95 % intervals of their rates.
  struct EnoughRange {
    int low = 0;                // the fewest that may reach kAsGood of the best
    std::optional<int> high{};  // that surely do; nothing: none but the largest, so more may help
  };
  // Nothing where one of them has no interval.
  std::optional<EnoughRange> enough_range() const;
  // The numbers to try for that; empty for other remedies.
  std::vector<int> workers_to_try() const;

  std::string options() const;  // "--workers 4"
};

}  // namespace feedrate::judge
