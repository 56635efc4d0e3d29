#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "plan/cell.h"
#include "run/run_options.h"

namespace feedrate::session {

// What an experiment is asked for, as typed.
struct ExperimentOptions {
  std::map<std::string, std::vector<std::string>> axes;  // flags given on the command line
  std::vector<std::string> where;
  std::filesystem::path config;
  std::filesystem::path data;
  std::filesystem::path output;
  bool anonymize = false;
  bool quiet = false, verbose = false;  // of commands with add_verbosity_options()
  std::filesystem::path trace;          // of `run`: of its cell, not of the ceiling; empty: none
  run::RunOptions run;
};

// One product of axes, and the dataset that its cells read.
struct CellGroup {
  std::vector<plan::Cell> cells;
  std::filesystem::path data;
};

}  // namespace feedrate::session
