#include "measure/ranges.h"

namespace feedrate::measure {

bool shows_ranges() { return false; }

void begin_range(TraceKind, std::int64_t) {}

void end_range() {}

}  // namespace feedrate::measure
