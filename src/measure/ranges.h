#pragma once
#include <cstdint>

#include "measure/trace.h"

namespace feedrate::measure {

// Ranges of NVTX, in the domain "feedrate", for a tool that is attached, as Nsight Systems is: it
// draws them beside what it sees itself. Without one, nothing is called.

// Whether there is a tool, as NVTX_INJECTION64_PATH says, and this build has NVTX's headers. The
// same at all times.
bool shows_ranges();

// The calling thread's; one may lie within another. Only where shows_ranges(). `number`: of the
// step; below 0: none.
void begin_range(TraceKind kind, std::int64_t number = -1);
void end_range();

// From here to the end of the block.
class Range {
 public:
  Range(TraceKind kind, std::int64_t number) : shown_(shows_ranges()) {
    if (shown_) begin_range(kind, number);
  }
  ~Range() {
    if (shown_) end_range();
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  const bool shown_;
};

}  // namespace feedrate::measure
