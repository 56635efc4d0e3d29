#pragma once
#include <memory>

#include "measure/delays.h"
#include "measure/trace.h"
#include "pipeline/extra_reads.h"
#include "pipeline/loader.h"
#include "run/batch_drain.h"
#include "run/kept_device.h"
#include "run/rank_task.h"

namespace feedrate::run {

// What one rank opens before its first step. It is closed in the reverse order.
struct RankSetup {
  // Takes the device that `kept` has for the task, or else opens a new one.
  RankSetup(const RankTask& task, device::Group& group, KeptDevice& kept);

  const std::int64_t pass_steps;                // of one pass, for a cold cell; else 0
  const std::shared_ptr<measure::Trace> trace;  // null: not traced
  measure::Delays delays;
  const measure::Delays* const served;  // the same; null: nothing is ever delayed
  std::unique_ptr<device::Accelerator> device;
  const std::unique_ptr<pipeline::ExtraReads> extra_reads;  // null: none are made
  const std::unique_ptr<pipeline::Loader> loader;           // null: batches are synthetic
  const std::unique_ptr<BatchDrain> discarding;  // null: the steps take the loader's batches
};

}  // namespace feedrate::run
