#pragma once
#include <cstddef>
#include <cstdint>

namespace feedrate {

// A hash of the sizes of the types. It changes when one of them changes, so that a module built
// before the change is refused rather than called.
template <typename... Types>
constexpr std::uint64_t layout_of() {
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
  for (const std::size_t size : {sizeof(Types)...}) hash = (hash ^ size) * 1099511628211ULL;
  return hash;
}

// A part of the program in a shared object of its own, loaded when it is asked for: what it needs
// is large, slow to load, or not installed everywhere. Training, DALI, HDF5 and OpenCV's
// decoders are modules.
struct Module {
  const char* file;    // in lib/feedrate/ or lib/ beside the program's bin/, or beside the program
  const char* symbol;  // the one function that it exports, C linkage
  const char* option;  // what asked for it, "--device"; what an Error names when this build has no
                       // such module
  const char* absent;  // "this build trains on emulated devices only"
  const char* build_it;        // the remedy
  const char* find_libraries;  // the remedy if it does not load
  std::uint64_t layout;       // of what both sides exchange: must be the module's `feedrate_layout`
  bool deep_binding = false;  // its libraries' own symbols before the program's (RTLD_DEEPBIND)
};

// Whether this build has it. Nothing is loaded.
bool has_module(const Module& module);

// The exported function; the object stays loaded. Errors: feedrate::Error. Thread-safe.
void* load_module(const Module& module);

}  // namespace feedrate
