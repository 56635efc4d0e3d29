#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>

namespace feedrate::ledger {

// The tables of axes and flags as the report reads them, so that it has no copy of its own: schema
// "feedrate.axes/1".
nlohmann::ordered_json axes_json();

// Writes them to DIR/axes.json, beside the ledger. Throws an Error naming the path and the reason.
void keep_axes(const std::filesystem::path& folder);

}  // namespace feedrate::ledger
