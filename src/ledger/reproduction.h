#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace feedrate::ledger {

using Arguments = std::vector<std::string>;  // of one command of this program, its name left out

// What stands in a record, and in plan.json, for bytes that are no UTF-8.
inline constexpr const char* kNoUtf8 = "\xef\xbf\xbd";

// What the records say of one variant of a dataset, and where it is read the next time.
struct MeasuredData {
  std::string folder;
  nlohmann::ordered_json dataset;  // as the record has it
  nlohmann::ordered_json cell;     // one that reads it
};

// What makes a ledger again: its datasets, then its sweeps.
struct Reproduction {
  std::vector<Arguments> datasets;  // `gen ...`
  std::vector<MeasuredData> data;   // what the runs are to read
  std::vector<Arguments> runs;  // `sweep ...`, `run ...`, as they were typed, but for the folders
  std::vector<std::string> configs;  // text of each run's --config; empty: it had none
  std::vector<std::string> notes;    // what cannot be the same again
};

// `dataset`, `output`: the folders to use; empty: those of the records. The command names the text
// of a --config OUTPUT/config-N.toml. Throws an Error where the records do not say how they were
// made.
Reproduction reproduction_of(const std::vector<nlohmann::ordered_json>& records,
                             const std::string& dataset, const std::string& output);

// Throws an Error where what lies there now is not what was measured, by the hash of the manifest.
// That of a folder of the user's own has the files' times in it: where it differs, so that a copy
// may do, numbers and bytes decide, and what is returned says so; else it is empty.
std::string check_same(const MeasuredData& data);

// What a command was before somebody went on with it, or tried it: without --resume,
// --force-resume and --dry-run.
Arguments first_typed(Arguments words);

// Quoted for a POSIX shell.
std::string shell_line(const Arguments& words);

}  // namespace feedrate::ledger
