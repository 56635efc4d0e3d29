#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "judge/flags.h"
#include "judge/verdict.h"
#include "run/cell_runner.h"

namespace feedrate::ledger {

// Reads back what flags, verdict and a diagnosis follow from; what else a Measurement has stays as
// it is by default. Shares and times are recorded with three decimals: `nudge` of 1 (-1) makes each
// as large (small) as it may have been before it was rounded. Throws the JSON library's exceptions
// where a field of a verdict is missing, or any is of another type; so do the other functions here.
run::Measurement measurement_from(const nlohmann::ordered_json& record, int nudge = 0);

// The ceiling that a cell's record was compared with; nothing where it has none. It is unfit where
// the record has the flag that says so.
std::optional<judge::Ceiling> ceiling_from(const nlohmann::ordered_json& record);

// The ceiling that a ceiling's own record is to its cells. Older records have no rate of the device
// alone.
judge::Ceiling as_ceiling(const nlohmann::ordered_json& record);

// A record's flags, without their figures, which it does not hold.
std::vector<judge::Flag> flags_from(const nlohmann::ordered_json& record);

// The page cache when the cell's first repetition began; nothing for that one.
std::optional<run::PageCache> first_page_cache_from(const nlohmann::ordered_json& record);

}  // namespace feedrate::ledger
