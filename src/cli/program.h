#pragma once

namespace feedrate::cli {

// Parses the command line and carries out the subcommand. Returns the exit code: 0 done, 1
// something failed, 2 usage, 130/143 interrupted. Throws UsageError (exit 2) and Error (exit 1).
int run_program(int argc, char** argv);

}  // namespace feedrate::cli
