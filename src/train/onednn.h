#pragma once

namespace feedrate::train {

// Keeps oneDNN from AMX where AMX cannot work (measure::amx_lacks_tiles); a user's own
// ONEDNN_MAX_CPU_ISA (or its old name, DNNL_MAX_CPU_ISA) stays as it is. oneDNN reads it at its
// first use, once. Not
// thread-safe: setenv.
void avoid_amx_without_tiles();

}  // namespace feedrate::train
