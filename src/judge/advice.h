#pragma once
#include <vector>

#include "judge/diagnosis.h"
#include "judge/remedy.h"

namespace feedrate::judge {

// What a remedy may rest on beside the diagnosis.
struct DataAndMemory {
  double bytes_per_sample = 0;  // as stored
  double memory_available = 0;  // bytes
  double samples = 0;           // of the dataset; 0: unknown
  bool takes_engines = true;    // its reads may go by another --io
};

// What could deliver more, the most first; those that promise less than kWorthIt are left out.
// A remedy moves one resource's capacity; the next one then limits: the prediction is the smallest.
std::vector<Remedy> advice_of(const Evidence& evidence, const Diagnosis& diagnosis,
                              const DataAndMemory& surroundings);

inline constexpr double kWorthIt = 1.03;  // times what the cell reaches now

}  // namespace feedrate::judge
