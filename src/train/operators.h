#pragma once
#include <functional>
#include <vector>

#include "measure/trace.h"

namespace feedrate::train {

// What LibTorch did while steps() ran, as its own profiler saw it: the operators of the thread that
// calls this and of the backward passes that it begins; with `on_gpu` also the GPU's kernels and
// copies. For one thread of a process at a time.
std::vector<measure::TraceOperator> operators_of(bool on_gpu, const std::function<void()>& steps);

}  // namespace feedrate::train
