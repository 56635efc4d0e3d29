#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace feedrate::ledger {

// Checksums that make an accidental edit of a ledger show: each record ends with that of the line
// before it and with its own. They are no signature: whoever edits on purpose can compute them
// again.

// XXH3-64 of a line without its newline, 16 hex digits; "" of no line.
std::string line_xxh3(std::string_view line);

// Adds `previous_xxh3`, the checksum of the line before, and `record_xxh3`, that of the record's
// own text before that field. Those it has already are replaced. What to_line() then gives is the
// sealed line.
void seal(nlohmann::ordered_json& record, const std::string& previous_xxh3);

// What a line's seal shows to be wrong: the line was changed, or another line was before it; "" if
// nothing is wrong.
std::string seal_problem(std::string_view line, const std::string& previous_xxh3);

}  // namespace feedrate::ledger
