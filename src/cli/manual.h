#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace feedrate::cli {

// The man page of the program, for section 1, in the macros of man(7): from the descriptions that
// --help shows. Subcommands without a group are left out.
std::string manual_of(const CLI::App& program, const std::string& version);

// The shells that have a completion, and are the values of the subcommand that writes it.
inline constexpr const char* kShells[] = {"bash", "zsh"};
// What makes a shell complete subcommands, options and the values of axes, also behind a comma. To
// be sourced, or laid where the shell looks for it.
std::string bash_completion_of(const CLI::App& program);
std::string zsh_completion_of(const CLI::App& program);

}  // namespace feedrate::cli
