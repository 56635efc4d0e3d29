#pragma once
#include <nlohmann/json.hpp>

#include "ledger/record_json.h"

namespace feedrate::tests {

// The fields that every reader of a ledger asks for, and `n` to tell records apart.
inline nlohmann::ordered_json least_record(int n) {
  return {{"schema", ledger::kResultSchema},
          {"cell", {{"data", "jpeg"}}},
          {"cell_id", "0"},
          {"repetition", 0},
          {"status", "ok"},
          {"imgs_per_s", 1.0},
          {"environment", nlohmann::ordered_json::object()},
          {"seed", 0},
          {"dataset", nullptr},
          {"n", n}};
}

}  // namespace feedrate::tests
