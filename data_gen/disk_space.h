#pragma once
#include <cstdint>

#include "data_gen/generate_plan.h"

namespace feedrate::data_gen {

// An upper estimate of the bytes that one sample takes on disk, on average.
std::int64_t estimated_bytes(const GeneratePlan& plan, const PlannedVariant& variant);
// Whether the disk has space for what is missing. Errors: feedrate::Error with the space that is
// needed and the space that there is.
void check_disk_space(const GeneratePlan& plan);

}  // namespace feedrate::data_gen
