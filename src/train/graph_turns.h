#pragma once
#include <cstddef>
#include <set>

namespace feedrate {

// How the next step on an input runs that lies in one of a few places ("slots").
enum class GraphTurn {
  eager,    // by itself: the library chooses kernels and takes memory
  capture,  // recorded for its slot, and then replayed
  replay,
};

// The first steps run by themselves; then each slot's first is captured, and the others are replayed.
class GraphTurns {
 public:
  static constexpr std::size_t kEagerSteps = 3;  // as PyTorch's notes on CUDA graphs ask for

  explicit GraphTurns(bool graphs, std::size_t eager_steps = kEagerSteps) : graphs_(graphs), eager_steps_(graphs ? eager_steps : kEagerSteps) {}

  GraphTurn next(std::size_t slot) {
    if (steps_ < eager_steps_) ++steps_;
    else if (graphs_) return captured_.insert(slot).second ? GraphTurn::capture : GraphTurn::replay;
    return GraphTurn::eager;
  }
  // Whether no step on any of `slots` slots will be captured, nor one of the first.
  bool settled(std::size_t slots) const { return steps_ == eager_steps_ && (!graphs_ || captured_.size() == slots); }

 private:
  const bool graphs_;
  const std::size_t eager_steps_;
  std::size_t steps_ = 0;  // of the first
  std::set<std::size_t> captured_;
};

}  // namespace feedrate
