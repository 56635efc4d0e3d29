#pragma once
#include <cstddef>
#include <set>

namespace feedrate::device {

// How the next step runs. Its input lies in one of a few fixed buffers ("slots").
enum class GraphTurn {
  eager,    // by itself: the library chooses kernels and takes memory
  capture,  // recorded for its slot, and then replayed
  replay,
};

// The first steps run by themselves; then each slot's first is captured, and the others are
// replayed.
class GraphTurns {
 public:
  static constexpr std::size_t kEagerSteps = 3;  // as PyTorch's notes on CUDA graphs ask for

  explicit GraphTurns(bool graphs, std::size_t eager_steps = kEagerSteps)
      : graphs_(graphs), eager_steps_(graphs ? eager_steps : kEagerSteps) {}

  GraphTurn next(std::size_t slot) {
    if (steps_ < eager_steps_)
      ++steps_;
    else if (graphs_)
      return captured_.insert(slot).second ? GraphTurn::capture : GraphTurn::replay;
    return GraphTurn::eager;
  }
  // Whether the first steps are over and every one of `slots` slots has its graph.
  bool settled(std::size_t slots) const {
    return steps_ == eager_steps_ && (!graphs_ || captured_.size() == slots);
  }

 private:
  const bool graphs_;
  const std::size_t eager_steps_;
  std::size_t steps_ = 0;  // of the first ones, so far
  std::set<std::size_t> captured_;
};

}  // namespace feedrate::device
