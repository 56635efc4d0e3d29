#pragma once
#include <cstddef>
#include <memory>

#include "pipeline/slab_ring.h"

namespace feedrate::train {

// Page-locked host memory, from which a GPU copies by itself while the host goes on. Usable from
// every GPU and thread. Its allocate() throws an Error with a remedy. Depends on no accelerator's
// life.
std::shared_ptr<pipeline::SlabAllocator> pinned_slabs();

// Some of it that frees itself.
std::shared_ptr<std::byte> pinned_bytes(std::size_t bytes);

}  // namespace feedrate::train
