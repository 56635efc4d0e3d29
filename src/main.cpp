#include <cstdio>
#include <exception>

#include "base/error.h"
#include "cli/program.h"

// Parse, check, run, export. Only here does a failure become a line of text and an exit code.
int main(int argc, char** argv) {
  try {
    const int code = feedrate::cli::run_program(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw feedrate::Error("standard output", "could not be written", "free some space");
    return code;
  } catch (const feedrate::UsageError& error) {
    std::fprintf(stderr, "feedrate: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "feedrate: %s\n", error.what());
    return 1;
  }
}
