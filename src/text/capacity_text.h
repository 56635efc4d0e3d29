#pragma once
#include <optional>

#include "session/capacity_search.h"

namespace feedrate::text {

// What `feedrate capacity` prints on stdout. What it is made of outlives it.
class CapacityAnswer {
 public:
  CapacityAnswer(const session::SearchedCell& searched, const session::Found& found)
      : settings_(searched.settings),
        device_(searched.device),
        host_cpu_ms_(searched.host_cpu_ms),
        found_(found) {}

  // What was asked for, the table of runs and the answers; of an interrupted search the table.
  void print() const;
  // What this machine manages from memory, and which of the two is the limit beyond the answer.
  void print_client(const session::ClientLimit& client) const;
  // What the answers do not prove.
  void print_proviso() const;

 private:
  void heading() const;
  void table() const;
  void answers() const;
  void fed(double share) const;

  const plan::CellSettings& settings_;
  const device::EmulatedDevice& device_;  // what is emulated
  const double host_cpu_ms_;              // of a step
  const session::Found& found_;
};

}  // namespace feedrate::text
