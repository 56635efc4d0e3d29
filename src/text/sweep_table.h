#pragma once
#include <cstddef>
#include <string>

#include "ledger/record.h"

namespace feedrate::text {

// A sweep's finished runs as rows of a table on a terminal: which run, what, images/s, share of the
// ceiling, how long the device waits; "!" behind the rate that must not be quoted. Rows are as wide
// as the terminal, not wider: the label gives way, the numbers stay. Immutable.
class SweepTable {
 public:
  // `columns`: of the terminal. `runs`: how many there will be, for the width of the first column;
  // `of_each`: in each repetition, and the column begins with the repetition ("2.5").
  // `colours`: red for what has no number that may be quoted, yellow for one with warnings.
  // `names_devices`: the labels do, since cells differ in it.
  SweepTable(std::size_t columns, std::size_t runs, bool of_each, bool colours,
             bool names_devices = false);

  std::string header() const;
  // `number` counts from 1. A failed run's row ends with the whole error, however long that is.
  std::string row(const ledger::Record& record, std::size_t number) const;

 private:
  std::string line(const std::string& run, const std::string& label, const std::string& rate,
                   const std::string& share, const std::string& waits) const;

  const std::size_t columns_, run_width_;
  const bool of_each_, colours_, names_devices_;
};

}  // namespace feedrate::text
