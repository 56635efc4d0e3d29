#pragma once
#include <string>

namespace feedrate {

// A part of the program that is a shared object of its own and is loaded when it is asked for, because what it
// needs is large, slow to load, or not everywhere: the training library, containers of other libraries.
struct Module {
  const char* file;      // in lib/ beside the program's bin/, or beside the program
  const char* symbol;    // the one function that it exports, C linkage
  const char* option;    // what asked for it, "--device"; what an Error names when this build has no such module
  const char* absent;    // "this build trains on emulated devices only"
  const char* build_it;  // the remedy
  const char* find_libraries;  // the remedy when it is there but does not load
  bool deep_binding = false;  // its libraries' own symbols before the program's (RTLD_DEEPBIND)
};

// The exported function; the object stays loaded. Errors: feedrate::Error. Thread-safe.
void* load_module(const Module& module);

}  // namespace feedrate
