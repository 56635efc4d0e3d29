#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "codec/image.h"

namespace feedrate::device {

// How long the steps of one GPU took, on synthetic batches that lay on it: what another machine
// replays as `emulated:trace=FILE`.
//
// The file is text, one thing a line: "feedrate.steps/2"; then NAME, tab, value for device, model,
// precision, batch_size, input_size, host_cpu_ms, steps; then "step_ms"; then a number a line, as
// many as `steps` says. A part of a file, as a copy leaves that was stopped, is refused.
struct StepTrace {
  std::string device, model, precision;
  int batch_size = 0;
  codec::PixelSize input_size;
  double host_cpu_ms = 0;       // CPU time of the process that a step took, on average
  std::vector<double> step_ms;  // from the end of the step before to its own, milliseconds
};

// Errors: feedrate::Error naming the file and line, what is wrong with it, and the remedy.
StepTrace read_step_trace(const std::filesystem::path& file);
// Replaces the file, or leaves it as it was. Errors: feedrate::Error naming it.
void write_step_trace(const std::filesystem::path& file, const StepTrace& trace);

// What a device's argument, "trace=FILE", names. "trace=FILE#XXH3" also says what is in it, in 16
// hex digits: what runs with two contents under one name give must not be taken for one.
struct TraceName {
  std::string file;
  std::string xxh3;  // empty: not said
};
bool is_trace(std::string_view argument);
bool replays_steps(std::string_view device);           // "emulated:trace=FILE"
TraceName trace_name_from(std::string_view argument);  // of one that is_trace()

// "trace=FILE" -> "trace=FILE#XXH3"; what has it already stays. Errors: as read_step_trace().
std::string with_content(std::string_view argument);

// Refuses a file that holds something else than what its name says. Errors: feedrate::Error.
StepTrace read_step_trace(const TraceName& name);

}  // namespace feedrate::device
