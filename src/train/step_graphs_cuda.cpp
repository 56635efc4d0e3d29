#include "train/step_graphs_cuda.h"

#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <exception>
#include <string>

#include "base/error.h"
#include "train/errors.h"
#include "train/graph_kernels_cuda.h"
#include "train/graph_memsets_cuda.h"

namespace feedrate::train {

namespace allocator = c10::cuda::CUDACachingAllocator;

void StepGraphs::run(std::size_t slot, const std::function<void()>& step) {
  switch (turns_.next(slot)) {
    case device::GraphTurn::eager:
      return step();
    case device::GraphTurn::capture:
      around_capture_([&] { capture(slot, step); });
      break;
    case device::GraphTurn::replay:
      break;
  }
  graphs_.at(slot).replay();
}

// Thread-local: a loader thread that takes page-locked memory meanwhile would end a global capture.
void StepGraphs::capture(std::size_t slot, const std::function<void()>& step) {
  if (!pool_) {
    // The graphs have memory of their own and will not use what the first steps have taken.
    allocator::emptyCache();
    pool_ = at::cuda::graph_pool_handle();
  }
  // Its nodes are kept: their kernels are asked for.
  at::cuda::CUDAGraph& graph = graphs_.try_emplace(slot, /*keep_graph=*/true).first->second;
  bool has_begun = false;
  try {
    graph.capture_begin(*pool_, cudaStreamCaptureModeThreadLocal);
    has_begun = true;
    step();
    graph.capture_end();
    if (memset_kernels_) memsets_replaced_ = memsets_to_kernels(graph.raw_cuda_graph());
    graph.instantiate();
    if (graphs_.size() == 1) kernels_ = kernels_xxh3(graph.raw_cuda_graph());
  } catch (const c10::Error& error) {
    abandon(slot, has_begun);
    if (is_of_device(error)) throw;
    const std::string message = error.what_without_backtrace();
    throw Error("the step as a CUDA graph", message.substr(0, message.find('\n')),
                memset_kernels_ ? "use --graph-memsets nodes" : "use --cuda-graph off");
  } catch (...) {
    abandon(slot, has_begun);
    throw;
  }
}

// A stream that is still capturing, or an allocator that believes so, would spoil what this process
// does next, and memory that stays with a graph which never was would be missing. How far the
// capture had come, nobody says: each part of its end may fail because it has been carried out,
// capture_end() in its middle, or was never due.
void StepGraphs::abandon(std::size_t slot, bool has_begun) noexcept {
  const auto try_to = [](const auto& part) {
    try {
      part();
      return true;
    } catch (const std::exception&) {
      cudaGetLastError();
      return false;
    }
  };
  at::cuda::CUDAGraph& graph = graphs_.at(slot);
  // A graph that has ended lets go of the pools by itself.
  const auto has_ended = [&] { return try_to([&] { graph.pool(); }); };
  if (!has_ended()) try_to([&] { graph.capture_end(); });
  if (!has_ended()) {
    const c10::DeviceIndex device = at::cuda::getCurrentCUDAStream().device_index();
    at::HostAllocator& host = *at::getHostAllocator(at::kCUDA);
    // One that was not begun may hold neither, and other graphs do.
    if (try_to([&] { allocator::endAllocateToPool(device, *pool_); }) || has_begun)
      try_to([&] { allocator::releasePool(device, *pool_); });
    if (try_to([&] { host.end_allocate_to_pool(*pool_); }) || has_begun)
      try_to([&] { host.release_pool(*pool_); });
  }
  graphs_.erase(slot);
  if (graphs_.empty()) pool_.reset();  // which is nobody's now, and cannot be used again
  // The generator believes in a capture until one has ended; its copy does not.
  try_to([] {
    at::Generator numbers = at::cuda::detail::getDefaultCUDAGenerator();
    numbers.graphsafe_set_state(numbers.clone());
  });
}

}  // namespace feedrate::train
