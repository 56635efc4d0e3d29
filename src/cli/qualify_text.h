#pragma once
#include <string>

#include "device/qualify.h"
#include "plan/settings.h"
#include "run/qualification.h"

namespace feedrate::cli {

// What is found out of a device before it is measured, for a person.

// "qualifying · trying batch-norm fused".
std::string trying_text(const run::QualifyEvent& event);

// One line: what `auto` stands for from now on, and what that gains.
std::string qualified_line(const plan::CellSettings& settings, const device::Qualification& found);

// A row for each rung and each batch size.
std::string qualified_table(const plan::CellSettings& settings, const device::Qualification& found);

}  // namespace feedrate::cli
