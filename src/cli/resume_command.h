#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>

#include "ledger/reproduction.h"

namespace feedrate::cli {

// For `sweep -o FOLDER --resume` that names no cells: the command that the folder's plan.json holds
// of a sweep that lacks a run, with the options that were typed now laid over it. Empty: it has no
// other options than those. Throws an Error that says what to type where the folder does not say
// it, or holds no sweep yet: whoever named no cells would measure others than those meant.
ledger::Arguments command_to_go_on(const CLI::App& typed, const std::filesystem::path& folder);

// Becomes this program again, with these words. Throws an Error where the system refuses it.
[[noreturn]] void become(ledger::Arguments words);

}  // namespace feedrate::cli
