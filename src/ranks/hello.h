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

  // "rank 3 on node2 (pid 4711)"
  std::string name() const;
};
Hello hello_of(const Launch& launch, const RunIdentity& identity);

std::string host_name();

// One per boot of a machine: processes that share it share CLOCK_MONOTONIC.
std::string boot_id();

// A text from another machine as a line can show it: at most `most` characters, with ? in the place
// of those that are not printable ASCII.
std::string printable(std::string_view text, std::size_t most);

}  // namespace feedrate::ranks
