#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "measure/trace.h"

namespace feedrate::measure {

// Writes the ranks' traces as one file of Chrome's trace format, which Perfetto and
// chrome://tracing open: a process for each rank, a row for each thread and for the device's copies
// and steps, counters of what waits in the queue and of the device. Times are relative to
// `from_ns`. Nothing may write to the traces any more. Replaces the file, or leaves it as it was: a
// temporary file beside it, "NAME.partial", then a rename. Returns how many events were left out.
// Errors: feedrate::Error with the path and the system's reason.
std::int64_t write_trace_file(const std::filesystem::path& file,
                              std::span<const std::shared_ptr<const Trace>> ranks,
                              std::int64_t from_ns);

}  // namespace feedrate::measure
