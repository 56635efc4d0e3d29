#pragma once
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "device/step_trials.h"

namespace feedrate::device {

// One way to run the step faster, judged on top of the rungs below it that were taken.
struct RungResult {
  std::string axis, value;  // "cuda-graph", "on"
  // "taken"; "no faster"; "wrong": its steps are not the same training, however fast; "failed": an
  // error or a crash ended an attempt; "not judged": the plain step is too far from fp64 itself;
  // "left out": does not go with what is below.
  std::string verdict;
  double imgs_per_s = 0;                // with it; 0: not timed
  double ratio = 0, low = 0, high = 0;  // of the rates with and without it; 95 % interval
  StepError error;                      // of steps with it; all 0: not looked at
  std::string reason;                   // of what was not taken, in words; may be empty

  bool is_taken() const { return verdict == "taken"; }
};

// The rate with the chosen options at one batch size; 0: it failed for `reason`.
struct BatchRate {
  int batch = 0;
  double imgs_per_s = 0;
  std::string reason;
};

// What a device's `auto` stands for, and why.
struct Qualification {
  StepOptions chosen;
  StepError plain;  // of the step at the foot
  std::vector<RungResult> rungs;
  std::vector<BatchRate> batches;  // where they were asked for
  std::string batches_failed;      // then: why there are none
};

// What is left to the device.
struct OpenStep {
  StepOptions typed;           // holds for the axes that are not open
  std::set<std::string> open;  // names of axes: "cuda-graph"
  std::string precision;       // "bf16"
  bool on_gpu = true;
  int batch = 1;
};

// The step at the foot: open axes the plain way, as far as the typed values allow it.
StepOptions plain_of(const OpenStep& step);

// Where a qualification has come to. It ends at a rung that throws or crashes, which may leave the
// device's state in this process useless for all others: whoever hears of `begun` and then of
// nothing knows which, and starts again in another process.
struct QualifyNews {
  std::function<void(const std::string& axis, const std::string& value)> begun;
  std::function<void(const RungResult&)> ended;
};

// Climbs from the plain step: each rung of an open axis is checked against it, and timed beside the
// step below in interleaved pairs; it is taken where it is right, and faster by its interval.
// `known`: results of attempts that ended early, which are not tried again. Throws what a step
// throws.
Qualification qualify(StepTrials& trials, const OpenStep& step,
                      const std::vector<RungResult>& known, const QualifyNews& news);

// The rates at a quarter of the batch to four times as much.
std::vector<BatchRate> rates_over_batches(StepTrials& trials, const StepOptions& options,
                                          int batch);

// The largest of `batch`, and about 7/8, 3/4, 5/8 and 1/2 of it, and so on, that fits into the
// device's memory; 0: none does.
int largest_batch(StepTrials& trials, const StepOptions& options, int batch);

// Whether steps with that error are the same training as the plain one's in this precision, whose
// rounding errors are allowed twice. Empty, or what is too much.
std::string why_wrong(const StepError& error, const StepError& plain);

}  // namespace feedrate::device
