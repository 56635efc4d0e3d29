#pragma once
#include <functional>
#include <memory>
#include <stop_token>

#include "device/registry.h"
#include "pipeline/sample_source.h"
#include "plan/settings.h"
#include "run/run_options.h"
#include "run/window.h"

namespace feedrate::run {

// What is seen of a run while it goes on.
struct RunProgress {
  Phase phase = Phase::warming;
  // Of the window so far, or the cell's blocks (warm-up: of its last half). 0 after the first step,
  // and before the first block has ended: only elapsed_s is known then.
  std::size_t steps = 0;
  double imgs_per_s = 0;  // of all ranks, over the window so far (warm-up: over the last steps)
  double ceiling_imgs_per_s = 0;  // the ceiling's rate so far, in a run in pairs; 0: not yet known
  double device_idle = 0;  // share of the time in which rank 0's device waited; < 0: not told
  double elapsed_s = 0;    // of the same steps
  bool settled = true;     // whether the device's first steps are over, see Accelerator::settled()
  double remaining_s = 0;  // estimate of the window's rest; < 0: unknown
  // Before the warm-up, of a cache: how many samples are in it, and how many there will be. 0: no
  // cache is being filled.
  std::size_t cached = 0, to_cache = 0;
};
using ProgressSink = std::function<void(const RunProgress&)>;

// What one rank does, the same for all ranks of a cell. Constant once made.
struct RankTask {
  plan::CellSettings settings;
  RunOptions options;  // a run in pairs has their blocks in it
  const device::AcceleratorKind* kind = nullptr;
  device::StepSpec step;
  std::shared_ptr<const storage::DatasetVariant> part;   // of the dataset, if not all is cached
  std::shared_ptr<const pipeline::SampleRecipe> recipe;  // null: synthetic
  ProgressSink progress;                                 // of rank 0; may be empty
  // Called in a handler: the rank fails. What it has opened is let go afterwards, which may hang.
  std::function<void()> failing;  // may be empty
};

// The task of a cell: opens its device's kind and fills its caches; returns early, with caches that
// are not whole, once `stop` is asked for. `dataset` (null: synthetic) outlives the task. `reads`
// is told what is read; may be null.
RankTask make_rank_task(const plan::CellSettings& settings, const RunOptions& options,
                        device::AcceleratorRegistry& registry,
                        const storage::DatasetVariant* dataset,
                        std::shared_ptr<storage::OutstandingReads> reads, ProgressSink progress,
                        std::stop_token stop);

}  // namespace feedrate::run
