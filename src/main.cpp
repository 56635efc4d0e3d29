#include <cstdio>
#include <exception>

#include "cli/program.h"
#include "measure/error.h"

// Parse, validate, run, export; the one place where a failure becomes a line and an exit code.
int main(int argc, char** argv) {
  try {
    return feedrate::run_program(argc, argv);
  } catch (const feedrate::UsageError& error) {
    std::fprintf(stderr, "feedrate: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "feedrate: %s\n", error.what());
    return 1;
  }
}
