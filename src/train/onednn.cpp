#include "train/onednn.h"

#include <cstdlib>

#include "base/text.h"
#include "measure/amx.h"

namespace feedrate::train {

void avoid_amx_without_tiles() {
  constexpr int kKeepTheUsers = 0;
  if (measure::amx_lacks_tiles() && environment_variable("DNNL_MAX_CPU_ISA").empty())
    setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16", kKeepTheUsers);  // the newest one without AMX
}

}  // namespace feedrate::train
