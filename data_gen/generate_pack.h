#pragma once
#include <functional>
#include <string>
#include <vector>

#include "data_gen/generate_plan.h"

namespace feedrate::data_gen {

// The containers asked for, of every planned variant, and whether they are there.
std::vector<PlannedPack> list_packs(const GeneratePlan& plan,
                                    const std::vector<std::string>& names);
// Packs what is missing, once the files are there. Errors: as generate_dataset.
void make_packs(GeneratePlan& plan, const std::function<void(const GenerateProgress&)>& on_progress,
                const std::function<bool()>& stop);

}  // namespace feedrate::data_gen
