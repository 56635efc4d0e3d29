#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/record.h"
#include "plan/cell.h"
#include "session/run_caveats.h"

namespace feedrate::text {

// What a person acts on, in five lines below a title: rate and share of the ceiling, what the
// device did meanwhile, the verdict, the advice, where the record is; then the names of the
// warnings, and a note where pictures hold stray bytes. `records`: the cell's, one for each
// repetition, of which one at least has a measurement; from three on the rate and the share have
// intervals. `ledger`: where they are kept; empty: nowhere.
std::string result_summary(std::span<const ledger::Record> records, const std::string& label,
                           const std::string& ledger);

// What `feedrate run` prints: whether it may be quoted, see do_not_quote_line(), then that summary,
// or with `verbose` each run as below. `records`, `ledger`: as above.
std::string runs_text(std::span<const ledger::Record> records, const std::string& ledger,
                      bool verbose);

// A finished run in a few lines for a person: throughput with its interval, share of the ceiling,
// step and waiting times, stages, the verdict, the flags.
std::string result_text(const ledger::Record& record, const std::string& label);

// The same in one line, for a sweep's log: "!" behind the rate that must not be quoted.
std::string result_line(const ledger::Record& record, const std::string& label);

// One of those lines: "  page cache warm\n".
std::string line_of(std::string_view key, const std::string& value);

// A flag as those lines have it: "  warning    cpu_steal: what was seen; what to do about it\n".
std::string flag_line(const judge::Flag& flag);

// What a cell reads one by one: "files", or "samples" of shards and packed files, of which one
// holds many.
const char* read_things(const plan::CellSettings& settings);

// Of the runs that an answer rests on; empty: no files were read.
std::string page_cache_line(const session::RunCaveats& seen);

// A line for each emulated device of the cells: whose rate it has, and how far it is a GPU
// (device::kEmulation). "NVIDIA H200, PyTorch's published 3,079 img/s (EMULATED): emulation not yet
// compared with a GPU\n". Empty where no cell has one.
std::string emulation_lines(std::span<const plan::Cell> cells);

// A cell's label beside cells of other devices: "h200 (3,079 img/s), jpeg 224x224, ...".
std::string label_with_device(const plan::Cell& cell);

// The labels of a run on a live line, the longest first: what shorter ones leave out is neither the
// data, nor the workers, GPUs and the device. `names_device`: as above.
std::vector<std::string> live_labels(const plan::Cell& cell, bool names_device);

}  // namespace feedrate::text
