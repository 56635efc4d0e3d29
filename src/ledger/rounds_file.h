#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "judge/diagnosis.h"
#include "judge/patterns.h"
#include "judge/raised_flags.h"
#include "run/blocks.h"

namespace feedrate::ledger {

// How a diagnosis spends its time, and what all its rounds have in common.
struct DiagnosisPlan {
  int rounds = 1;
  int pairs = 6;           // of blocks, for each place, in each round
  run::BlockPlan blocks;   // how long a block is
  double block_run_s = 0;  // of each round, at most
  int batch_size = 0;      // of the blocks, where the cell's own are too long; 0: the cell's
};
// A pattern in the cell's steps, and how many rounds showed it.
struct SeenPattern {
  int rounds = 0;
  judge::Pattern last;
};
// What rounds showed beside their evidence.
struct SeenInRounds {
  int rounds = 0;                                       // whose steps were looked at
  std::map<std::string, SeenPattern> patterns{};        // by name
  std::map<judge::LadderRung, std::string> left_out{};  // why rungs could not be measured
  int runs = 0;                                         // of the ladder, of blocks, of advice
  // Of these: that something else used the machine, or that a number must not be quoted.
  std::vector<judge::RaisedFlag> flags{};
  std::string blocks_failed{};  // why a round lacks blocks; empty: none failed

  // Those that more than half of the rounds showed.
  std::vector<judge::Pattern> patterns_of_most() const;
};

struct RoundsHead {
  std::string cell_id, device;
  std::string planted;  // see --plant
  double budget_s = 0;  // from which the runs' limits follow
  double seconds = 0;   // that it took so far
  DiagnosisPlan plan;
  judge::Servers servers;
  SeenInRounds seen{};
};

// DIR/rounds.jsonl, beside the ledger: how a diagnosis was planned, and each round that is whole.
struct Rounds {
  RoundsHead head;
  std::vector<judge::RoundEvidence> rounds;
};
inline constexpr const char* kRoundsFile = "rounds.jsonl";

// Nothing where there is no file, or nothing whole in it. What a crash has cut off is left out.
// Throws an Error naming a line that says something else.
std::optional<Rounds> read_rounds(const std::filesystem::path& folder);
// Replaces the file. Throws an Error.
void write_rounds(const std::filesystem::path& folder, const Rounds& rounds);

}  // namespace feedrate::ledger
