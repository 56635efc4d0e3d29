#pragma once
#include <cstdint>
#include <stop_token>
#include <vector>

#include "ranks/coordinator.h"
#include "ranks/hello.h"
#include "ranks/launch.h"
#include "ranks/turned_away.h"

namespace feedrate::ranks {

// The rendezvous, for rank 0's process: waits at the meeting point for all the other ranks; element
// i is rank i + 1. A rank proves itself by being this user's process on this machine, or by the
// secret. Whoever has not proven himself is turned away, and `say` is told; he cannot end the wait,
// lengthen it, or hold more than a bounded number of descriptors and bytes, for a bounded time.
// Errors: Error naming the port that is taken, the rank that did not come within `patience_ns`, or
// the proven one that was started with another program or other options. Nothing if `stop` came
// first.
std::vector<RankLink> meet_ranks(const Launch& launch, const RunIdentity& identity,
                                 std::int64_t patience_ns, std::stop_token stop,
                                 const Say& say = {});

}  // namespace feedrate::ranks
