#include "base/error.h"
#include "train/jpeg_decoder.h"

namespace feedrate::train {

void check_nvjpeg() {
  throw Error("--decoder nvjpeg", "this build has none: nvjpeg.h was not found",
              "run scripts/bootstrap and build again, or use --decoder auto");
}

PutPixels nvjpeg_decoder(const StepSpec&, c10::DeviceIndex) {
  check_nvjpeg();
  return {};
}

}  // namespace feedrate::train
