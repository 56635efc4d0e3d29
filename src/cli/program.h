#pragma once

namespace feedrate::cli {

// Parses the command line and carries out the subcommand. Returns the exit code: 0 all that was
// asked is done, whatever flags say, 1 something asked has no answer, 2 usage, 130/143 interrupted.
// Throws UsageError (exit 2) and Error (exit 1).
int run_program(int argc, char** argv);

}  // namespace feedrate::cli
