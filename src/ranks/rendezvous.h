#pragma once
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "ranks/coordinator.h"
#include "ranks/launch.h"
#include "ranks/patience.h"
#include "ranks/socket_group.h"

namespace feedrate {

// What the processes of one run must have in common.
struct RunIdentity {
  std::string program;  // hash of the binary
  std::string options;  // hash of what was asked for
};

// For rank 0's process: waits at launch.host:launch.port for all the other ranks; element i is rank i + 1. Errors: Error
// naming the port that is taken, the rank that did not come within `patience_ns`, or the one that was started with another
// program or other options. Nothing if `stop` came first.
std::vector<RankLink> meet_ranks(const Launch& launch, const RunIdentity& identity, std::int64_t patience_ns, std::stop_token stop);

// For the others: goes there. Null where rank 0 has refused, and says why itself. Errors: Error where nobody is there
// within `patience_ns`. `silence_ns`: as SocketGroup's.
std::unique_ptr<SocketGroup> join_ranks(const Launch& launch, const RunIdentity& identity, std::int64_t patience_ns, std::int64_t silence_ns = kSilenceNs);

}  // namespace feedrate
