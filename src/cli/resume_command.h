#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>

#include "ledger/reproduction.h"

namespace feedrate::cli {

// For `sweep -o FOLDER --resume` that names no cells: the command that the folder's plan.json holds
// of a sweep that lacks a run, with the options that were typed now laid over it. Empty: it has no
// other options than those, or the folder holds no sweep yet. Throws an Error that says what to
// type where the folder does not say it.
ledger::Arguments command_to_go_on(const CLI::App& typed, const std::filesystem::path& folder);

// Becomes this program again, with these words. Throws an Error where the system refuses it.
[[noreturn]] void become(ledger::Arguments words);

}  // namespace feedrate::cli
