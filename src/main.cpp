#include <fcntl.h>

#include <cstdio>
#include <exception>

#include "base/error.h"
#include "cli/program.h"

// A closed descriptor would be the next file's: progress would be written into a ledger. What is
// opened here fails where it is used.
static void open_standard_streams() {
  for (const int stream : {0, 1, 2})
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
}

// Parse, check, run, export. Only here does a failure become a line of text and an exit code.
int main(int argc, char** argv) {
  open_standard_streams();
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
