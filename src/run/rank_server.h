#pragma once
#include "device/registry.h"
#include "ranks/socket_group.h"

namespace feedrate::run {

// A process that is one rank: carries out the orders (RankOrder) that its coordinator gives, until
// there are no more. Failures are reported to the coordinator. `ranks_here`: how
// many ranks run on its machine; the first of these prepares the page cache.
void serve_rank(ranks::SocketGroup& group, device::AcceleratorRegistry& registry, int ranks_here);

}  // namespace feedrate::run
