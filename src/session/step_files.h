#pragma once
#include <filesystem>

#include "plan/cell.h"
#include "run/cell_result.h"
#include "session/experiment_options.h"

namespace feedrate::session {

// Files beside a run's records that hold its steps. What cannot be written is refused before
// anything is measured, by an Error or a UsageError. An empty name asks for no file.

// --record-steps: how long the steps of the cell took, for `emulated:trace=FILE`.
void check_recording(const plan::Cell& cell, const std::filesystem::path& file);
void record_steps(const std::filesystem::path& file, const run::CellResult& result);

// --trace and --trace-operators. The trace's name becomes one that means the same to the ranks'
// processes.
void settle_trace(const plan::Cell& cell, ExperimentOptions& experiment);

}  // namespace feedrate::session
