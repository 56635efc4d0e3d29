#pragma once
#include "device/accelerator.h"
#include "ranks/socket_group.h"

namespace feedrate {

// A process that is one rank: carries out the orders (RankOrder) that its coordinator gives, until there are no more.
// What goes wrong is told to the coordinator. `first_here`: of the ranks of this machine that no CellRunner of the
// coordinator's serves; it sees to the page cache.
void serve_rank(SocketGroup& group, AcceleratorRegistry& registry, bool first_here);

}  // namespace feedrate
