#include "train/step_graphs_cuda.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include <string>

#include "base/error.h"

namespace feedrate::train {

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
  if (!pool_) {
    // The graphs have memory of their own and will not use what the first steps have taken.
    c10::cuda::CUDACachingAllocator::emptyCache();
    pool_ = at::cuda::graph_pool_handle();
  }
  graph.capture_begin(*pool_, cudaStreamCaptureModeThreadLocal);
  try {
    step();
  } catch (const c10::OutOfMemoryError&) {
    abandon(graph);
    throw;
  } catch (const c10::Error& error) {
    abandon(graph);
    const std::string message = error.what_without_backtrace();
    throw Error("the step as a CUDA graph", message.substr(0, message.find('\n')),
                "use --cuda-graph off");
  } catch (...) {
    abandon(graph);
    throw;
  }
  graph.capture_end();
}

// A stream that is still capturing, or an allocator that believes so, would spoil what this process
// does next.
void StepGraphs::abandon(at::cuda::CUDAGraph& graph) noexcept {
  try {
    graph.capture_end();
  } catch (const c10::Error&) {
    cudaGetLastError();
    c10::cuda::CUDACachingAllocator::endAllocateToPool(c10::cuda::current_device(), *pool_);
  }
}

}  // namespace feedrate::train
