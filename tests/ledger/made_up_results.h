#pragma once
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "ledger/check_flags.h"
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
  const plan::CellSettings settings = result.settings;
  const ledger::Record record =
      ledger::make_record(std::move(result), {plan::PlannedRun{cell}, 0, ceiling, {}, {}}, options);
  auto json = ledger::record_json(record, options, environment);
  if (json.at("status") == "ok" && !json.at("dataset").is_null()) {
    EXPECT_EQ(listed(ledger::flag_problems(json, settings)), "") << "what it says, read back";
  }
  return json;
}

}  // namespace feedrate::tests
