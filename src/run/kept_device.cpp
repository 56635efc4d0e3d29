#include "run/kept_device.h"

#include <algorithm>
#include <utility>

namespace feedrate::run {

bool KeptDevice::keeps(const RankTask& task) {
  const RunOptions& options = task.options;
  return options.blocks.in_pairs && task.kind->goes_on && options.trace.empty() &&
         std::ranges::all_of(options.planted_delays, [](std::int64_t ns) { return ns == 0; }) &&
         task.step.feed == device::Feed::streamed && task.step.batch.encoded_slot == 0;
}

std::unique_ptr<device::Accelerator> KeptDevice::take(const RankTask& task, device::Group& group) {
  bool all_have = is_for(task);
  if (group.size() > 1) all_have = std::ranges::min(group.all_gather(all_have)) != 0;
  if (!all_have) drop();
  return std::move(device_);
}

void KeptDevice::put(const RankTask& task, std::unique_ptr<device::Accelerator> device) {
  device_ = std::move(device);
  kind_ = task.kind;
  argument_ = task.settings.device_argument;
  spec_ = task.step;
}

bool KeptDevice::is_for(const RankTask& task) const {
  return device_ && keeps(task) && task.kind == kind_ &&
         task.settings.device_argument == argument_ && task.step == spec_;
}

}  // namespace feedrate::run
