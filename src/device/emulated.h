#pragma once
#include "device/registry.h"

namespace feedrate::device {

// Takes real batches at a known rate, without a GPU. Step k ends at
//   max(copy of batch k ended, end of step k-1) + batch_size / imgs_per_s
// by absolute deadlines; the copy is a real one into one of two buffers and takes at least
// bytes / bus_bytes_per_s. With several ranks a step ends for all when the slowest has ended, as it
// does where gradients are averaged.
AcceleratorKind emulated_kind();

}  // namespace feedrate::device
