#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "judge/advice.h"
#include "ledger/rounds_file.h"
#include "plan/cell.h"
#include "session/session.h"

namespace feedrate::session {

// What could deliver more, as far as the cell's other options allow it: see judge::advice_of().
std::vector<judge::Remedy> advice_for(const plan::Cell& cell, const judge::Evidence& evidence,
                                      const judge::Diagnosis& diagnosis,
                                      const judge::DataAndMemory& surroundings);

// How far the advice was tried: `not_all`: the runs of a remedy failed.
enum class Tried { all, not_all, interrupted };
// Measures the cells of the remedies in some rounds, from `first_round` on, each round in an order
// of its own that `seed` draws; sets what they reached, or why not. Adds what is told of the runs
// that this rests on to `seen`.
Tried try_out(Session& session, const plan::Cell& cell, std::vector<judge::Remedy>& advice,
              int first_round, std::uint64_t seed, ledger::SeenInRounds& seen);
// Does the same with what they reached when it was tried, as the records of that ledger have it.
void add_tried(const std::vector<nlohmann::ordered_json>& records, const plan::Cell& cell,
               std::vector<judge::Remedy>& advice, int first_round, ledger::SeenInRounds& seen);

}  // namespace feedrate::session
