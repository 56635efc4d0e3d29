#pragma once
#include "measure/host_counters.h"

namespace feedrate::ledger {

// The names of HostUse's members, as a record has them.
struct HostColumn {
  const char* name;
  double measure::HostUse::* value;
};
inline constexpr HostColumn kHostShares[] = {
    {"cpu_busy", &measure::HostUse::cpu_busy},
    {"cpu_iowait", &measure::HostUse::cpu_iowait},
    {"cpu_steal", &measure::HostUse::cpu_steal},
    {"cpu_other_processes", &measure::HostUse::cpu_other_processes},
    {"psi_cpu_some", &measure::HostUse::psi_cpu_some},
    {"psi_io_some", &measure::HostUse::psi_io_some},
    {"psi_memory_some", &measure::HostUse::psi_memory_some},
    {"cpu_quota_stopped", &measure::HostUse::cpu_quota_stopped}};
inline constexpr HostColumn kHostAmounts[] = {
    {"disk_read_bytes_per_s", &measure::HostUse::disk_read_bytes_per_s},
    {"network_receive_bytes_per_s", &measure::HostUse::network_receive_bytes_per_s},
    {"memory_available_bytes", &measure::HostUse::memory_available_bytes},
    {"cpu_mhz", &measure::HostUse::cpu_mhz}};

}  // namespace feedrate::ledger
