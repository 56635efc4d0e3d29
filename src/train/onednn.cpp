#include "train/onednn.h"

#include <cstdlib>

#include "base/text.h"
#include "measure/amx.h"

namespace feedrate::train {

bool avoid_amx_without_tiles() {
  for (const char* name : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"}) {
    if (!environment_variable(name).empty()) return false;
  }
  if (!measure::amx_lacks_tiles()) return false;
  setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16", 1);  // the newest one without AMX
  return true;
}

}  // namespace feedrate::train
