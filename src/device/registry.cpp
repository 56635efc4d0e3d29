#include <dlfcn.h>

#include <filesystem>

#include "device/accelerator.h"
#include "device/emulated.h"
#include "measure/error.h"

namespace feedrate {
namespace {

// LibTorch takes seconds and hundreds of megabytes to load, so it comes only with a device that needs it.
RegisterAccelerators load_training_library() {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  std::string reasons;
  for (const auto& path : {program / ".." / "lib" / kTrainingLibrary, program / kTrainingLibrary}) {
    if (!std::filesystem::exists(path)) continue;
    // DEEPBIND: LibTorch exports its BLAS (sgemm_ ...) and would otherwise take the one that OpenCV's
    // libraries brought into the program, Debian's reference BLAS, an order of magnitude slower. It
    // needs a program without copies of the standard library's objects: main.cpp, the one file that is
    // not position-independent code, keeps away from them (`readelf -r feedrate | grep COPY`).
    // Never closed: its threads and exit handlers outlast any point at which that would be safe.
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)) {
      return reinterpret_cast<RegisterAccelerators>(dlsym(library, kRegisterSymbol));
    }
    reasons = dlerror();
  }
  if (reasons.empty()) {
    throw Error("--device", "this build trains on emulated devices only",
                "build with LibTorch (scripts/bootstrap, then -DFEEDRATE_TORCH=ON), or use emulated:NAME");
  }
  throw Error(kTrainingLibrary, reasons, "put LibTorch's lib folder into LD_LIBRARY_PATH, or run scripts/bootstrap");
}

}  // namespace

std::pair<std::string_view, std::string_view> split_device(std::string_view device) {
  const auto colon = device.find(':');
  if (colon == std::string_view::npos) return {device, {}};
  return {device.substr(0, colon), device.substr(colon + 1)};
}

AcceleratorRegistry::AcceleratorRegistry() { add(emulated_kind()); }

const AcceleratorKind& AcceleratorRegistry::find(std::string_view device) {
  const std::string_view name = split_device(device).first;
  if ((name == "cpu" || name == "cuda") && !training_loaded_) {
    const RegisterAccelerators register_all = load_training_library();
    if (!register_all) throw Error(kTrainingLibrary, "is not of this program's version", "build both together");
    register_all(*this);
    training_loaded_ = true;
  }
  for (const AcceleratorKind& kind : kinds_) {
    if (kind.name == name) return kind;
  }
  throw UsageError("--device " + std::string(device), "is not known",
                   "use cuda, cpu, emulated:NAME or emulated:IMGS_PER_S (`feedrate list`)");
}

}  // namespace feedrate
