#pragma once
#include <cstdint>
#include <stop_token>
#include <vector>

#include "ranks/coordinator.h"
#include "ranks/hello.h"
#include "ranks/launch.h"

namespace feedrate::ranks {

// The rendezvous, for rank 0's process: waits at launch.host:launch.port for all the other ranks;
// element i is rank i + 1. Errors: Error naming the port that is taken, the rank that did not come
// within `patience_ns`, or the one that was started with another program or other options. Nothing
// if `stop` came first.
std::vector<RankLink> meet_ranks(const Launch& launch, const RunIdentity& identity,
                                 std::int64_t patience_ns, std::stop_token stop);

}  // namespace feedrate::ranks
