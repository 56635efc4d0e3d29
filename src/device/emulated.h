#pragma once
#include "device/registry.h"

namespace feedrate::device {

// Takes real batches at a known rate, without a GPU. Step k ends at
//   max(copy of batch k ended, end of step k-1) + batch_size / imgs_per_s
// by absolute deadlines. The copy takes bytes / bus_bytes_per_s by the clock, into one of two
// buffers that are not there: nothing reads the bytes, and a GPU's copy engine takes no CPU of the
// host. Left out is what that engine takes of the host's memory bandwidth: it reads each batch once
// (38.5 MB of 256 images of 224x224 in uint8; 1.1 GB/s at 7,490 images/s). With several ranks a
// step ends for all when the slowest has ended, as it does where gradients are averaged.
AcceleratorKind emulated_kind();

}  // namespace feedrate::device
