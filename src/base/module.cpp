#include "base/module.h"

#include <dlfcn.h>

#include <filesystem>

#include "base/error.h"

namespace feedrate {
namespace {

// Empty: there is none.
std::filesystem::path path_of(const Module& module) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const auto& path : {program / ".." / "lib" / "feedrate" / module.file,
                           program / ".." / "lib" / module.file, program / module.file})
    if (std::filesystem::exists(path)) return path;
  return {};
}

}  // namespace

bool has_module(const Module& module) { return !path_of(module).empty(); }

void* load_module(const Module& module) {
  const auto path = path_of(module);
  if (path.empty()) throw Error(module.option, module.absent, module.build_it);
  // Never closed: its libraries' threads and exit handlers live until the process ends.
  void* library =
      dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | (module.deep_binding ? RTLD_DEEPBIND : 0));
  if (library == nullptr) throw Error(module.file, dlerror(), module.find_libraries);
  const auto* layout = static_cast<const std::uint64_t*>(dlsym(library, "feedrate_layout"));
  void* function = dlsym(library, module.symbol);
  if (function == nullptr || layout == nullptr || *layout != module.layout)
    throw Error(module.file, "is not of this program's version", "build both together");
  return function;
}

}  // namespace feedrate
