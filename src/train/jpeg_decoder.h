#pragma once
#include "train/copy_engine_cuda.h"

namespace feedrate::train {

struct StepSpec;

// Decodes batches of encoded pictures (BatchSpec::encoded_slot) on a GPU with nvJPEG:
// `spec.engine_share` percent by the JPEG engine where there is one, the rest by its processors
// beside it; what nvJPEG refuses, by the host. Errors: Error where nvJPEG is not there, and for a
// batch that cannot be decoded.
PutPixels nvjpeg_decoder(const device::StepSpec& spec, c10::DeviceIndex device);

// Throws what nvjpeg_decoder() would where the library is absent from this build or machine.
void check_nvjpeg();

}  // namespace feedrate::train
