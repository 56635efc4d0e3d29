#include "train/nvjpeg_library_cuda.h"

#include <dlfcn.h>

#include <string>

#include "base/error.h"

namespace feedrate::train {
namespace {

constexpr const char* kRemedy =
    "run scripts/bootstrap, or put the CUDA toolkit's libnvjpeg into LD_LIBRARY_PATH, or use "
    "--decoder auto";

void* open_library() {
  const std::string with_version = "libnvjpeg.so." + std::to_string(NVJPEG_VER_MAJOR);
  for (const char* name : {with_version.c_str(), "libnvjpeg.so"}) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  throw Error("--decoder nvjpeg", "there is no " + with_version, kRemedy);
}

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function) throw Error("libnvjpeg", std::string("has no ") + name, kRemedy);
}

NvjpegLibrary load() {
  void* library = open_library();  // stays: what it made may be destroyed at exit
  NvjpegLibrary functions;
  find(library, "nvjpegCreateEx", functions.create);
  find(library, "nvjpegDestroy", functions.destroy);
  find(library, "nvjpegJpegStateCreate", functions.state_create);
  find(library, "nvjpegJpegStateDestroy", functions.state_destroy);
  find(library, "nvjpegJpegStreamCreate", functions.stream_create);
  find(library, "nvjpegJpegStreamDestroy", functions.stream_destroy);
  find(library, "nvjpegJpegStreamParseHeader", functions.parse_header);
  find(library, "nvjpegJpegStreamGetFrameDimensions", functions.frame_dimensions);
  find(library, "nvjpegDecodeBatchedSupported", functions.batched_supported);
  find(library, "nvjpegDecodeBatchedInitialize", functions.batched_initialize);
  find(library, "nvjpegDecodeBatched", functions.batched_decode);
  return functions;
}

}  // namespace

const NvjpegLibrary& nvjpeg_library() {
  static const NvjpegLibrary library = load();
  return library;
}

}  // namespace feedrate::train
