#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "ranks/rendezvous.h"

namespace feedrate {

// What a rank says when it comes; both ends are the same program, which is what it is asked for first.
inline constexpr const char* kProtocol = "feedrate ranks 1";
inline constexpr int kClockExchanges = 8;
nlohmann::json hello_of(const Launch& launch, const RunIdentity& identity);

std::string host_name();

// One per boot of a machine: processes that share it share CLOCK_MONOTONIC.
std::string boot_id();

}  // namespace feedrate
