#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "judge/flags.h"
#include "plan/settings.h"

namespace feedrate::ledger {

// What the rules of the flags look at, as far as a record has it.
struct RecordedFacts {
  run::CellResult result;
  run::RunOptions options;
  std::optional<judge::Ceiling> ceiling;
  std::optional<run::PageCache> first_page_cache;
  std::vector<std::string> differences;
  std::optional<double> overlap;

  judge::FlagFacts facts() const;  // refers to this
};
// `settings`: of the record's cell. For a run that ended well, of a schema with checksums; `nudge`
// as for measurement_from(). Throws the JSON library's exceptions.
RecordedFacts facts_from(const nlohmann::ordered_json& record, const plan::CellSettings& settings,
                         int nudge = 0);

// A line for each flag that is not as the rules (judge/flags.h) make it from the record's own
// numbers: without its flag a doubtful number looks sound. Of flags that rest on what no record
// keeps, only the severity is looked at. Arguments and exceptions as above.
std::vector<std::string> flag_problems(const nlohmann::ordered_json& record,
                                       const plan::CellSettings& settings);

}  // namespace feedrate::ledger
