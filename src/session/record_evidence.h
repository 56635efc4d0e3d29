#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "judge/diagnosis.h"

namespace feedrate::session {

// What one record of a ledger says to a diagnosis. The functions throw the JSON library's
// exceptions where it lacks something.

// images/s, without what came from the queue's stock: see run::kept_up().
double kept_up(const nlohmann::ordered_json& record);

// Adds what the record of a rung says to its round; `is_own`: it is of the cell itself, whose
// stages, steps and reads tell more.
void add_record(const nlohmann::ordered_json& record, judge::Rung rung, bool is_own,
                judge::RoundEvidence& round);

// What all rounds have in common, as a record of the cell itself tells it.
struct CellFacts {
  std::string device;  // its name
  double cpus = 1;     // that it may use
  double step_s = 0;   // mean
};
CellFacts facts_of(const nlohmann::ordered_json& record);

}  // namespace feedrate::session
