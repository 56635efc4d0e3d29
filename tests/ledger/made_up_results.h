#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ledger/record.h"
#include "plan/expand.h"

namespace feedrate::tests {

// What a run of the cell that the axes make gave, from what its ranks answered.
inline run::CellResult result_of(const plan::AxisValues& axes, run::RankAnswer answer) {
  run::CellResult result{.cell = plan::expand(axes).at(0), .status = run::Status::ok};
  result.settings = plan::settings_of(result.cell);
  result.measurement = run::measurement_of(result.settings, answer);
  return result;
}

// The ledger's record of a run that stands alone.
inline nlohmann::ordered_json json_of(run::CellResult result, const run::RunOptions& options = {},
                                      const std::optional<judge::Ceiling>& ceiling = {},
                                      const nlohmann::ordered_json& environment = {}) {
  const plan::Cell cell = result.cell;
  const ledger::Record record =
      ledger::make_record(std::move(result), {plan::PlannedRun{cell}, 0, ceiling, {}, {}}, options);
  return ledger::RecordWriter(options, environment).json_of(record);
}

}  // namespace feedrate::tests
