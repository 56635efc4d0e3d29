#pragma once
#include "plan/settings.h"
#include "session/capacity_search.h"
#include "storage/dataset.h"

namespace feedrate::text {

// What `feedrate capacity` prints on stdout.
class CapacityAnswer {
 public:
  // `device`: what is emulated.
  CapacityAnswer(const plan::CellSettings& settings, const device::EmulatedDevice& device,
                 const storage::DatasetVariant& dataset);

  // What was asked for, the table of runs, the answers, and what they do not prove.
  void print(const session::Found& found) const;
  // Of a search that was interrupted: no answers.
  void print_so_far(const session::Found& found) const;
  // What this machine manages from memory, and which of the two is the limit beyond the answer.
  void print_client(const session::Found& found, const session::ClientLimit& client) const;

 private:
  double host_cpu_ms() const;  // of a step
  void heading() const;
  void table(const judge::GpuSearch& search, const session::Readings& readings) const;
  void seen(const session::Seen& seen) const;
  void fed(const judge::GpuSearch& search, double share) const;

  const plan::CellSettings settings_;
  const device::EmulatedDevice device_;
  const double bytes_per_sample_;
};

}  // namespace feedrate::text
