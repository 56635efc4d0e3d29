#pragma once
#include <set>
#include <string>
#include <vector>

#include "experiment/ledger.h"
#include "experiment/run_cell.h"

namespace feedrate {

// What of the records in a ledger is not as it is now: "binary_xxh3", "host", "seed", "limits.min_seconds", "gpus",
// "file_system.device", "dataset jpeg/500x375" ... Records of another program, machine, storage, seed, length or data would
// make one ledger out of two experiments. `cells`: ids of those that are measured now; only of the same cell must the
// limits be the same. Throws an Error that names the
// first one, unless `force`; then returns all, each once.
std::vector<std::string> differences(const Ledger& ledger, const CellRunner& runner, const nlohmann::ordered_json& environment,
                                     const RunOptions& options, const std::set<std::string>& cells, bool force);

// What of the device that a record names is not as in records of the same `cell.device` and `cell.gpus`: "device.name",
// "device.software" (several GPUs have a library more, which averages their gradients).
// Which device it is shows only when it was used.
std::vector<std::string> device_differences(const std::vector<nlohmann::ordered_json>& records, const nlohmann::ordered_json& record);

// Flags a record that joins others in spite of such differences.
void flag_forced(nlohmann::ordered_json& record, const std::vector<std::string>& differences);

}  // namespace feedrate
