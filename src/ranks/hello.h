#pragma once
#include <string>
#include <string_view>

#include "ranks/launch.h"
#include "ranks/secret.h"

namespace feedrate::ranks {

// What the processes of one run must have in common.
struct RunIdentity {
  std::string program;  // hash of the binary
  std::string options;  // hash of what was asked for
  Secret secret;        // may be empty
};

// Who a rank says that it is.
struct Hello {
  int rank = 0, size = 0;
  std::string program, options;  // see RunIdentity
  std::string job;               // see Launch
  std::string host, boot;        // see host_name(), boot_id()
  int pid = 0;
};
Hello hello_of(const Launch& launch, const RunIdentity& identity);

// "rank 3 on node2 (pid 4711)"
std::string rank_name(int rank, std::string_view host, int pid);

std::string host_name();

// One per boot of a machine: processes that share it share CLOCK_MONOTONIC.
std::string boot_id();

}  // namespace feedrate::ranks
