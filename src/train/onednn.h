#pragma once

namespace feedrate::train {

// Keeps oneDNN from AMX where AMX cannot work (measure::amx_lacks_tiles); true if it had to. A
// user's own ONEDNN_MAX_CPU_ISA (or its old name, DNNL_MAX_CPU_ISA) stays as it is. oneDNN reads
// these variables once, at its first use. Not thread-safe: setenv.
bool avoid_amx_without_tiles();

}  // namespace feedrate::train
