#pragma once
#include "device/accelerator.h"

namespace feedrate::device {

// How far a few steps with some options are from the same steps by the plain way in fp64: from the
// same weights, on the same batch. NaN where a step gave none. Weights are of convolutions, of
// batch normalisations, or the classifier's: each kind is looked at by itself, as the change of
// batch normalisations is a hundredth of the others', and the one that is furthest away counts.
struct StepError {
  double loss = 0;    // of the last one, relative
  double update = 0;  // of what the steps changed of the weights, relative, by its norm
  double scale = 0;   // of that change's length in the direction of the true one: 0.1 is 10 % more
  // Of the one weight (a tensor) whose change is furthest away, relative, by the norm of its own
  // true change: a kernel that gives one wrong gradient of a hundred shows nowhere else.
  double one = 0;
  // The same in fp32, whose rounding is smaller and hides less.
  double one_in_fp32 = 0;
};

// Of a batch; more images cost time and memory, and tell no more.
inline constexpr int kMostCompared = 16;

// Tries out steps with other options than each other's on one device, for qualify(). Used by one
// thread. Each function throws a std::exception where the step cannot be made.
class StepTrials {
 public:
  virtual ~StepTrials() = default;

  virtual StepError error_of(const StepOptions& options) = 0;

  // Seconds that so many steps take on synthetic batches of `batch` images. Their network is made,
  // and warm, when they begin; it is kept while there is memory for it.
  virtual double seconds(const StepOptions& options, int batch, int steps) = 0;
};

}  // namespace feedrate::device
