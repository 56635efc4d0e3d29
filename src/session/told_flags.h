#pragma once
#include <string_view>
#include <vector>

#include "judge/flags.h"
#include "ledger/rounds_file.h"

namespace feedrate::session {

// Counts one more run that a diagnosis rests on, and keeps those of its flags that the diagnosis
// tells: that something else used the machine, changed it or spoilt what is read, and the serious
// ones, but for those of what is made up for. `of`: which run, such as its rung.
void add_told_flags(const std::vector<judge::Flag>& flags, std::string_view of,
                    ledger::SeenInRounds& seen);

}  // namespace feedrate::session
