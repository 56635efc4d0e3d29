#pragma once
#include <cstdint>
#include <memory>

#include "ranks/hello.h"
#include "ranks/launch.h"
#include "ranks/patience.h"
#include "ranks/socket_group.h"
#include "ranks/turned_away.h"

namespace feedrate::ranks {

// The rendezvous, for every process but rank 0's: connects to launch.host:launch.port, where rank 0
// waits (meet_ranks). Who answers there and cannot prove that it is rank 0 is left, and `say` told.
// Errors: Error if no rank 0 that knows the secret answers within `patience_ns`, or if it refused
// this rank. `silence_ns`: as SocketGroup's.
std::unique_ptr<SocketGroup> join_ranks(const Launch& launch, const RunIdentity& identity,
                                        std::int64_t patience_ns,
                                        std::int64_t silence_ns = kSilenceNs, const Say& say = {});

}  // namespace feedrate::ranks
