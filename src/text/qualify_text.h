#pragma once
#include <string>

#include "device/qualify.h"
#include "plan/settings.h"
#include "run/qualifier.h"
#include "text/progress.h"

namespace feedrate::text {

// What is found out of a device before it is measured, for a person.

// "qualifying · trying batch-norm fused".
std::string trying_text(const run::QualifyEvent& event);

// One line: what `auto` stands for from now on, and what that gains.
std::string qualified_line(const plan::CellSettings& settings, const device::Qualification& found);

// A table of the rungs, whose rows are written as each has ended, and one of the rates over batch
// sizes.
std::string rungs_heading(const plan::CellSettings& settings);
std::string rung_row(const device::RungResult& rung);
std::string batches_table(const device::Qualification& found);

// Shows all that on stderr: `line`, which outlives them, while it goes on, then the one line; the
// tables where they are asked for.
run::QualifyHooks qualify_hooks(ProgressLine& line, bool shows_table);

}  // namespace feedrate::text
