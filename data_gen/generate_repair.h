#pragma once
#include <functional>

#include "data_gen/generate.h"
#include "data_gen/generate_plan.h"

namespace feedrate::data_gen {

// Reads every file of the planned variants that were complete, and removes those whose content is
// not what their manifest says: they are missing then, and made again. Errors: feedrate::Error for
// what cannot be read or removed, and "interrupted" once `stop` returns true; what was removed
// until then is missing all the same.
void remove_damaged(GeneratePlan& plan, int threads,
                    const std::function<void(const GenerateProgress&)>& on_progress,
                    const std::function<bool()>& stop);

}  // namespace feedrate::data_gen
