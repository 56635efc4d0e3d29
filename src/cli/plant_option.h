#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "run/run_options.h"

namespace feedrate::cli {

// --plant WHERE=MS: a known bottleneck, to see by whether a diagnosis finds it. Not shown in
// --help; every record says that times were planted.
void add_plant_option(CLI::App& command, std::vector<std::string>& plants);

// "read=2", "decode=1.5:burn" (of each sample, in the worker; burnt: CPU time), "copy=3",
// "read=2:spike=50@16" (50 ms more for every 16th sample), "step=40", "all-reduce=5" (of each
// step). Throws a UsageError.
void plant(const std::vector<std::string>& plants, run::RunOptions& options);

}  // namespace feedrate::cli
