#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "ledger/ledger.h"
#include "plan/sweep_order.h"
#include "run/cell_runner.h"

namespace feedrate::ledger {

// cell_id, repetition, position.
using RunKey = std::tuple<std::string, int, int>;
// The runs with a record that missing_of() takes for done.
std::set<RunKey> runs_done(const std::vector<nlohmann::ordered_json>& records);

// The runs of the plan without a record of the same cell, repetition and position that is `ok` and
// valid: a number that must not be quoted is measured again, unless another run would find the same
// (FlagRule::stays). A share is of the ceilings that were measured around its cell. So what a
// closed repetition lacks is measured between ceilings of its own (another sitting), and a
// repetition that lacks the ceiling that opens it is measured as a whole.
std::vector<plan::PlannedRun> missing_of(std::vector<plan::PlannedRun> plan,
                                         const std::vector<nlohmann::ordered_json>& records);

// How a ledger's records differ from what would be measured now: "binary_xxh3", "host",
// "cpu.affinity", "kernel", "seed", "limits.min_seconds", "gpus", "file_system.device", "dataset
// jpeg/500x375" ... Records of another program, machine, state of the machine, storage, seed,
// length or dataset would make one ledger of two experiments. `cells`: ids of what is measured now;
// limits are compared for these alone. Throws an Error that names the first difference, unless
// `force`; then returns all, each once. No value: the command cannot be forced. A ledger of
// `feedrate jobs` or `feedrate capacity` is refused always.
std::vector<std::string> differences(const Ledger& ledger, const run::CellRunner& runner,
                                     const nlohmann::ordered_json& environment,
                                     const run::RunOptions& options,
                                     const std::set<std::string>& cells, std::optional<bool> force);

// How a measured device differs from the device of records with the same `cell.device` and
// `cell.gpus`: "device.name", "device.software" (several GPUs have a library more, which averages
// their gradients). The device is known only after it was used.
std::vector<std::string> device_differences(const std::vector<nlohmann::ordered_json>& records,
                                            const run::CellResult& result);

}  // namespace feedrate::ledger
