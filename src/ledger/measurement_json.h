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

// What a verdict follows from, as a record has it: rates, window, idle share, mean step, stages,
// arrivals, CPUs and the kind of device; the other fields stay as they are by default. Throws the
// JSON library's exceptions where a field is missing or of another type; so do the others.
run::Measurement verdict_inputs_from(const nlohmann::ordered_json& record);
// The ceiling that a cell's record was compared with; nothing where it had none that may be quoted.
std::optional<judge::Ceiling> ceiling_from(const nlohmann::ordered_json& record);
// What the record of a ceiling is to its cells. Older records have no rate of the device alone.
judge::Ceiling as_ceiling(const nlohmann::ordered_json& record);

}  // namespace feedrate::ledger
