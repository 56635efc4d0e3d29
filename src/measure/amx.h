#pragma once

namespace feedrate::measure {

// Whether this CPU announces AMX (Intel's matrix unit) but no sizes of its tiles (CPUID leaf 0x1D),
// as some hypervisors have it. A library that computes with AMX there ends in SIGILL: oneDNN does,
// up to its pull request 5801. Thread-safe.
bool amx_lacks_tiles();

}  // namespace feedrate::measure
