#pragma once
#include <ATen/cuda/CUDAGraph.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "device/accelerator.h"
#include "device/graph_turns.h"

namespace feedrate::train {

// Runs steps as CUDA graphs: the host launches one graph instead of a thousand kernels. Every slot
// in which an input may lie has a graph, so that no input is copied. The graphs share their memory,
// as only one runs at a time.
class StepGraphs {
 public:
  // Calls what captures a step; may throw instead.
  using AroundCapture = std::function<void(const std::function<void()>& captures)>;

  explicit StepGraphs(
      const device::StepOptions& options, std::size_t eager_steps = device::GraphTurns::kEagerSteps,
      AroundCapture around_capture = [](const std::function<void()>& captures) { captures(); })
      : turns_(options.cuda_graph, eager_steps),
        memset_kernels_(options.memset_kernels),
        around_capture_(std::move(around_capture)) {}

  // Queues `step` on the current stream, always the same and not the default one, by the calling
  // thread, always the same. `step` reads and writes only memory that stays where it is: the
  // input's of `slot`, and what outlives this. Other threads may use CUDA meanwhile. Errors: Error
  // where the step cannot be captured.
  void run(std::size_t slot, const std::function<void()>& step);

  // Lets go of all graphs, and of what they hold: a communicator ends after the graphs that use it.
  // One that is running ends by itself. No step is run after that.
  void reset() { graphs_.clear(); }

  bool settled(std::size_t slots) const { return turns_.settled(slots); }

  // Memset nodes of the last graph whose place kernels have taken.
  std::size_t memsets_replaced() const { return memsets_replaced_; }

  // Of the first graph, see graph_kernels_cuda.h; empty without one.
  const std::string& kernels() const { return kernels_; }

 private:
  void capture(std::size_t slot, const std::function<void()>& step);
  void abandon(std::size_t slot, bool has_begun) noexcept;  // ends a capture that has failed

  device::GraphTurns turns_;
  const bool memset_kernels_;
  const AroundCapture around_capture_;
  std::optional<at::cuda::MempoolId_t> pool_;  // of all graphs
  std::map<std::size_t, at::cuda::CUDAGraph> graphs_;
  std::string kernels_;
  std::size_t memsets_replaced_ = 0;
};

}  // namespace feedrate::train
