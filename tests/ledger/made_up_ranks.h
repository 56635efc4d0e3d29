#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tests/ledger/made_up_results.h"
#include "tests/run/made_up_rank.h"

namespace feedrate::tests {

// The record of a run of these ranks on an emulated device.
inline nlohmann::ordered_json record_of(std::vector<run::RankResult> ranks,
                                        const run::RunOptions& options = {}) {
  const plan::AxisValues axes = {{"device", {"emulated:1000"}},
                                 {"gpus", {std::to_string(ranks.size())}},
                                 {"batch-size", {"8"}}};
  return json_of(result_of(axes, {.ranks = std::move(ranks)}), options);
}

}  // namespace feedrate::tests
