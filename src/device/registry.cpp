#include "device/registry.h"
#include "base/error.h"
#include "base/module.h"
#include "device/accelerator.h"
#include "device/emulated.h"

namespace feedrate::device {
namespace {

// LibTorch takes seconds and hundreds of megabytes to load, so it comes only with a device that
// needs it. Deep binding: LibTorch exports its BLAS (sgemm_ ...) and would otherwise take the one
// that OpenCV's libraries brought into the program, Debian's reference BLAS, an order of magnitude
// slower. It needs a program without copies of the standard library's objects: main.cpp, the one
// file that is not position-independent code, keeps away from them (`readelf -r feedrate | grep
// COPY`).
constexpr Module kTraining{
    .file = "libfeedrate_train.so",
    .symbol = kRegisterSymbol,
    .option = "--device",
    .absent = "this build trains on emulated devices only",
    .build_it =
        "build with LibTorch (scripts/bootstrap, then -DFEEDRATE_TORCH=ON), or use emulated:NAME",
    .find_libraries = "put LibTorch's lib folder into LD_LIBRARY_PATH, or run scripts/bootstrap",
    .layout = kTrainingLayout,
    .deep_binding = true};

}  // namespace

std::pair<std::string_view, std::string_view> split_device(std::string_view device) {
  const auto colon = device.find(':');
  if (colon == std::string_view::npos) return {device, {}};
  return {device.substr(0, colon), device.substr(colon + 1)};
}

bool trains_on_devices() { return has_module(kTraining); }

AcceleratorRegistry::AcceleratorRegistry() { add(emulated_kind()); }

const AcceleratorKind& AcceleratorRegistry::find(std::string_view device) {
  const std::string_view name = split_device(device).first;
  if ((name == "cpu" || name == "cuda") && !training_loaded_) {
    reinterpret_cast<RegisterAccelerators>(load_module(kTraining))(*this);
    training_loaded_ = true;
  }
  for (const AcceleratorKind& kind : kinds_) {
    if (kind.name == name) return kind;
  }
  throw UsageError("--device " + std::string(device), "is not known",
                   "use cuda, cpu, emulated:NAME or emulated:IMGS_PER_S (`feedrate list`)");
}

}  // namespace feedrate::device
