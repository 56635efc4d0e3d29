#pragma once
#include <memory>
#include <string>

#include "device/accelerator.h"
#include "device/group.h"
#include "run/rank_task.h"

namespace feedrate::run {

// The device that a rank hands on to the next run of its process, so that the cells of a setting
// have one network, one set of kernels and one set of graphs. Used by the rank's thread.
class KeptDevice {
 public:
  // The device of the run before, where all ranks have one that is as this task's must be; else
  // null, and then none is held: two may not fit into the memory. All runs are of one group.
  std::unique_ptr<device::Accelerator> take(const RankTask& task, device::Group& group);

  // Whether the device of such a task may go on with another. What watches or delays it, and a
  // resident batch, belong to one run; and a JPEG engine that fails once decodes nothing more.
  static bool keeps(const RankTask& task);
  // Of such a task, which has ended well: drained, and it holds no batch.
  void put(const RankTask& task, std::unique_ptr<device::Accelerator> device);

  void drop() { device_.reset(); }

 private:
  bool is_for(const RankTask& task) const;

  std::unique_ptr<device::Accelerator> device_;  // null: none
  const device::AcceleratorKind* kind_ = nullptr;
  std::string argument_;
  device::StepSpec spec_;  // as the task had it
};

}  // namespace feedrate::run
