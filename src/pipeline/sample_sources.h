#pragma once
#include <memory>

#include "pipeline/sample_source.h"

namespace feedrate::pipeline {

// The kinds of sources, each in the file of its name; make_sample_source() chooses.

// Pictures: decoded, augmented, collated on the host.
std::unique_ptr<SampleSource> make_picture_source(const SampleRecipe& recipe,
                                                  measure::StageCounters& counters);
// Encoded pictures, for a decoder on the device.
std::unique_ptr<SampleSource> make_encoded_source(const SampleRecipe& recipe,
                                                  measure::StageCounters& counters);
// Precached tensors.
std::unique_ptr<SampleSource> make_tensor_source(const SampleRecipe& recipe,
                                                 measure::StageCounters& counters);
// cache=sample: finished samples from memory.
std::unique_ptr<SampleSource> make_cached_source(const SampleRecipe& recipe,
                                                 measure::StageCounters& counters);

}  // namespace feedrate::pipeline
