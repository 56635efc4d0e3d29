#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "ranks/launch.h"

namespace feedrate::ranks {

// What the processes of one run must have in common.
struct RunIdentity {
  std::string program;  // hash of the binary
  std::string options;  // hash of what was asked for
};

// What a rank sends first. Both ends must be the same program, which is checked before anything
// else.
inline constexpr const char* kProtocol = "feedrate ranks 1";
inline constexpr int kClockExchanges = 8;
nlohmann::json hello_of(const Launch& launch, const RunIdentity& identity);

std::string host_name();

// One per boot of a machine: processes that share it share CLOCK_MONOTONIC.
std::string boot_id();

}  // namespace feedrate::ranks
