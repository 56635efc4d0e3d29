#include "base/module.h"

#include <dlfcn.h>

#include <filesystem>

#include "base/error.h"

namespace feedrate {

void* load_module(const Module& module) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const auto& path : {program / ".." / "lib" / module.file, program / module.file}) {
    if (!std::filesystem::exists(path)) continue;
    // Never closed: its libraries' threads and exit handlers live until the process ends.
    void* library =
        dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | (module.deep_binding ? RTLD_DEEPBIND : 0));
    if (library == nullptr) throw Error(module.file, dlerror(), module.find_libraries);
    const auto* layout = static_cast<const std::uint64_t*>(dlsym(library, "feedrate_layout"));
    void* function = dlsym(library, module.symbol);
    if (function != nullptr && layout != nullptr && *layout == module.layout) return function;
    throw Error(module.file, "is not of this program's version", "build both together");
  }
  throw Error(module.option, module.absent, module.build_it);
}

}  // namespace feedrate
