#pragma once
#include <memory>

#include "pipeline/slab_ring.h"

namespace feedrate::train {

// Page-locked host memory, from which a GPU copies by itself while the host goes on. Usable from
// every GPU and thread. Its allocate() throws an Error with a remedy. Depends on no accelerator's
// life.
std::shared_ptr<pipeline::SlabAllocator> pinned_slabs();

}  // namespace feedrate::train
