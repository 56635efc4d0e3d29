#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>

namespace feedrate::machine {

// What a result depends on in the machine, as Linux reports it in /proc and /sys. What cannot be
// read is an empty string, 0 or null. None of it fails, none names a host or a serial number.
nlohmann::ordered_json cpu_json();           // model, sockets, cores, caches, NUMA nodes, governor
nlohmann::ordered_json memory_json();        // in all, swap, huge pages
nlohmann::ordered_json group_limits_json();  // of the control group: memory, CPU quota; open files
nlohmann::ordered_json network_json();       // interfaces that are up: speed, MTU, driver
nlohmann::ordered_json gpus_json();          // NVIDIA's, as the driver lists them

// The mount that holds `path`, and the block device under it with its queue's settings; null for an
// empty path.
nlohmann::ordered_json file_system_json(const std::filesystem::path& path);

}  // namespace feedrate::machine
