#pragma once
#include <filesystem>

namespace feedrate::tests {

// The first three and make_precise_sweeps() print a Markdown table or a line.

// How often is_steady() is right, for `count` made-up series of each kind.
void validate_series(int count);

// How often the intervals hold the true throughput, over `count` made-up runs each.
void validate_intervals(int count);

// Measures `count` pairs of ledgers, of six repetitions each, on an emulated device whose step
// varies from repetition to repetition by `noise` (standard deviation, a share); in the second of
// each pair it is `gap` slower. Below `folder`, as 0000/a, 0000/b and so on.
void make_pairs(int count, double noise, double gap, const std::filesystem::path& folder);

// Simulates `count` sweeps of eight cells on a machine of known noise, measured until each share is
// known within `target` or `budget_runs` runs (0: no budget) are spent, by the code that decides it
// for `sweep`. Prints a line for each run (sweep, cell or -1, repetition, place, images/s), cell
// (sweep, cell, true share, repetitions, whether the target is met) and sweep (pilot, runs, runs
// that a fixed number of repetitions takes for as narrow a widest interval).
void make_precise_sweeps(int count, double target, double budget_runs);

// Makes the checksums of a folder's ledger afresh, and what plan.json keeps of them, as whoever
// edits on purpose would.
void seal_again(const std::filesystem::path& folder);

}  // namespace feedrate::tests
