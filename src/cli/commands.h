#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <optional>

#include "session/supervised_command.h"

namespace feedrate::cli {

// A subcommand: adds itself to the program and returns what carries it out (its exit code: 0 done,
// flagged or not, 1 something asked has no answer, 130/143 interrupted; it throws UsageError (exit
// 2) and Error (exit 1)).
using Command = std::function<int()>;
struct CommandEntry {
  CLI::App* app;
  Command run{};
  std::optional<session::SupervisedBody> supervised{};  // instead: by another process
};

CommandEntry add_gen(CLI::App& program);
CommandEntry add_verify(CLI::App& program);
CommandEntry add_rank(CLI::App& program);
CommandEntry add_run(CLI::App& program);
CommandEntry add_sweep(CLI::App& program);
CommandEntry add_diagnose(CLI::App& program);
CommandEntry add_capacity(CLI::App& program);
CommandEntry add_jobs(CLI::App& program);
CommandEntry add_report(CLI::App& program);
CommandEntry add_compare(CLI::App& program);
CommandEntry add_validate(CLI::App& program);
CommandEntry add_reproduce(CLI::App& program);
CommandEntry add_list(CLI::App& program);
CommandEntry add_doctor(CLI::App& program);
CommandEntry add_completion(CLI::App& program);
CommandEntry add_manual(CLI::App& program);

}  // namespace feedrate::cli
