#pragma once
#include <nlohmann/json.hpp>

#include <optional>

#include "judge/verdict.h"
#include "plan/settings.h"
#include "run/measurement.h"

namespace feedrate::ledger {

// Adds a measurement's fields to a record. `ceiling`: that opened the repetition, if there is one.
void add_measurement(nlohmann::ordered_json& record, const plan::CellSettings& settings,
                     const run::Measurement& measurement,
                     const std::optional<judge::Ceiling>& ceiling);

// What one rank measured, as records have it in `ranks`.
nlohmann::ordered_json rank_json(std::size_t number, const run::RankMeasurement& rank);

}  // namespace feedrate::ledger
