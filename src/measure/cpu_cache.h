#pragma once
#include <cstdint>
#include <filesystem>

namespace feedrate::measure {

// Bytes of the CPUs' last-level caches, all of the machine together; 0 if unknown. What is larger
// than that, and read round and round, comes from memory. `system`: for tests.
std::uint64_t last_level_cache_bytes(
    const std::filesystem::path& system = "/sys/devices/system/cpu");

}  // namespace feedrate::measure
