#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "data_gen/generate.h"

namespace feedrate::cli {

// What `feedrate gen` is asked for, as typed.
struct GenOptions {
  data_gen::GenerateOptions generate;
  std::string from, like, subsampling = "420";
  std::vector<std::string> image_sizes, input_sizes{"224"}, tensor_dtypes{"uint8"};
  // A disk that catches up with what was written before may keep a writer for longer than a reader.
  double stall_seconds = 30;
};

// `options` must outlive the parse.
void add_gen_options(CLI::App& command, GenOptions& options);

// What is to be generated; refers to `options`. Throws a UsageError.
data_gen::GenerateOptions to_generate(const GenOptions& options);

}  // namespace feedrate::cli
