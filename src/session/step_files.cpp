#include "session/step_files.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/whole_file.h"
#include "device/step_trace.h"

namespace feedrate::session {

void check_recording(const plan::Cell& cell, const std::filesystem::path& file) {
  if (file.empty()) return;
  if (!cell.is("data", "synthetic") || !cell.is("gpus", "1")) {
    throw UsageError("--record-steps", "records the steps of one device without any loading",
                     "use --data synthetic --gpus 1");
  }
  check_replaceable(file);
}

void record_steps(const std::filesystem::path& file, const run::CellResult& result) {
  if (file.empty()) return;
  const plan::CellSettings& s = result.settings;
  const run::Measurement& m = *result.measurement;
  device::StepTrace trace{.device = m.device.name,
                          .model = s.model,
                          .precision = s.precision,
                          .batch_size = s.batch_size,
                          .input_size = s.input_size,
                          .host_cpu_ms = 0,
                          .step_ms = m.step_ms.values};
  // On a CPU the step itself is what takes the time.
  if (m.device.kind != "cpu" && m.steps > 0 && !m.machines.empty()) {
    trace.host_cpu_ms =
        1e3 * std::max(0.0, m.machines.front().use.process_cpu_s) / static_cast<double>(m.steps);
  }
  device::write_step_trace(file, trace);
}

static void check_operators(const plan::Cell& cell, const std::filesystem::path& trace) {
  if (trace.empty()) {
    throw UsageError("--trace-operators", "there is no trace that they could be in",
                     "say where: --trace FILE");
  }
  if (cell["device"].value_or("").starts_with("emulated")) {
    throw UsageError("--trace-operators", "an emulated device runs no operators",
                     "leave it out, or use --device cuda or cpu");
  }
  if (cell.is("page-cache", "cold")) {
    throw UsageError("--trace-operators",
                     "watches some steps behind the window, and a cold run "
                     "is one pass over the data, which is then over",
                     "use --page-cache warm");
  }
  // Before LibTorch is loaded: its profiler calls it an error that a machine has no GPU.
  setenv("KINETO_LOG_LEVEL", "99", /*overwrite=*/0);
}

void settle_trace(const plan::Cell& cell, ExperimentOptions& experiment) {
  if (experiment.run.trace_operators) check_operators(cell, experiment.trace);
  if (experiment.trace.empty()) return;
  check_replaceable(experiment.trace);
  experiment.trace = std::filesystem::absolute(experiment.trace);
}

}  // namespace feedrate::session
