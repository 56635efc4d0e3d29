#pragma once
#include <span>
#include <string>

#include "judge/raised_flags.h"
#include "session/run_caveats.h"

namespace feedrate::text {

// The first line of every answer that rests on a run with a serious flag, and one of the last of a
// sweep's log: "DO NOT QUOTE: stopped in 2 of 6 runs (what was seen)\n", all names in it; empty
// where there is none. `runs`: that the answer rests on.
std::string do_not_quote_line(std::span<const judge::RaisedFlag> raised, int runs);

// For the end of a verdict, where most of the runs saw that something else used the CPUs:
// "; noise in most runs: cpu_steal in 5 of 6, up to 7.3 %". Empty where they did not.
std::string noise_text(std::span<const judge::RaisedFlag> raised, int runs);

// Both, as the first lines of an answer whose verdict is no one line.
std::string first_lines(const session::RunCaveats& seen);
std::string first_lines(std::span<const judge::RaisedFlag> raised, int runs);

}  // namespace feedrate::text
