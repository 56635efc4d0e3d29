#pragma once
#include <string>

#include "plan/cell.h"
#include "run/rank_task.h"

namespace feedrate::text {

// What to lower where a step takes so long that the run takes more than a minute: one line, with
// how long it takes. Empty: it is fast enough, nobody knows yet (the first steps on an H200 took 4
// to 20 s: LibTorch loads its kernels, cuDNN tries its own), or nothing can be lowered.
std::string slow_step_text(const run::RunProgress& progress, const plan::Cell& cell, bool in_pairs,
                           const run::RunLimits& limits);

}  // namespace feedrate::text
