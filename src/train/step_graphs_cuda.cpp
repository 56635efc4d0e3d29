#include "train/step_graphs_cuda.h"

#include <c10/cuda/CUDACachingAllocator.h>

#include <string>

#include "measure/error.h"

namespace feedrate {

void StepGraphs::run(std::size_t slot, const std::function<void()>& step) {
  switch (turns_.next(slot)) {
    case GraphTurn::eager:
      return step();
    case GraphTurn::capture:
      capture(graphs_[slot], step);
      break;
    case GraphTurn::replay:
      break;
  }
  graphs_[slot].replay();
}

// Thread-local: a loader thread that takes page-locked memory meanwhile would end a global capture.
void StepGraphs::capture(at::cuda::CUDAGraph& graph, const std::function<void()>& step) {
  const bool first = graphs_.size() == 1;
  // What the first steps have taken, the graphs will not use: they have memory of their own.
  if (first) c10::cuda::CUDACachingAllocator::emptyCache();
  const at::cuda::MempoolId_t pool = first ? at::cuda::graph_pool_handle() : graphs_.begin()->second.pool();
  try {
    graph.capture_begin(pool, cudaStreamCaptureModeThreadLocal);
    step();
    graph.capture_end();
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const c10::Error& error) {
    const std::string message = error.what_without_backtrace();
    throw Error("the step as a CUDA graph", message.substr(0, message.find('\n')), "use --cuda-graph off");
  }
}

}  // namespace feedrate
