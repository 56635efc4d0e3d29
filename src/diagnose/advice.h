#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "measure/statistics.h"

namespace feedrate::diagnose {

// Something to change, and what the cell would then reach.
struct Remedy {
  std::string name;                            // "more workers"
  std::map<std::string, std::string> changes;  // values of axes; --try measures the cell with them
  std::string why;                             // what the prediction rests on
  measure::Estimate predicted;                 // images/s
  std::optional<measure::Estimate> measured{};
  std::string not_tried{};  // why --try could not measure it
  // Of more workers: what so many reached, by workers of one GPU, its own number among them.
  std::map<int, measure::Estimate> by_workers{};
  // W*: the fewest of these that reach kAsGood of the best; nothing if that is the largest number
  // tried and better than the one before it, so that more may help.
  std::optional<int> enough_workers() const;
  // The numbers to try for that; empty for other remedies.
  std::vector<int> workers_to_try() const;

  std::string options() const;  // "--workers 4"
};

// What a remedy may rest on beside the diagnosis.
struct Surroundings {
  double bytes_per_sample = 0;  // as stored
  double memory_available = 0;  // bytes
  double samples = 0;           // of the dataset; 0: unknown
  bool takes_engines = true;    // its reads may go by another --io
};

// What could deliver more, the most first; those that promise less than kWorthIt are left out.
// A remedy moves one resource's capacity; the next one then limits: the prediction is the smallest.
std::vector<Remedy> advice_of(const Evidence& evidence, const Diagnosis& diagnosis,
                              const Surroundings& surroundings);

inline constexpr double kAsGood = 0.98;
inline constexpr double kWorthIt = 1.03;  // times what the cell reaches now

}  // namespace feedrate::diagnose
