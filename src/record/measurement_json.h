#pragma once
#include <nlohmann/json.hpp>

#include "plan/settings.h"
#include "run/measurement.h"

namespace feedrate::record {

// Adds a measurement's fields to a record. `ceiling_imgs_per_s`: of the ceiling that opened the
// repetition, if there is one.
void add_measurement(nlohmann::ordered_json& record, const plan::CellSettings& settings,
                     const run::Measurement& measurement, std::optional<double> ceiling_imgs_per_s);

// What one rank measured, as records have it in `ranks`.
nlohmann::ordered_json rank_json(std::size_t number, const run::RankMeasurement& rank);

// What a verdict follows from, as a record has it: rate, idle share, mean step, stages, arrivals,
// CPUs and the kind of device; the other fields stay as they are by default. Throws the JSON
// library's exceptions where a field is missing or of another type.
run::Measurement verdict_inputs_from(const nlohmann::ordered_json& record);

}  // namespace feedrate::record
