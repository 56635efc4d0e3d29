#include "judge/patterns/lost_rhythm.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "base/text.h"
#include "judge/patterns/noise.h"

namespace feedrate::judge {
namespace {

using std::size_t;

// Waits laid on a circle of one round of the workers: their sum, and that of their vectors.
struct RhythmRound {
  double wait = 0;
  std::complex<double> vector;
  RhythmRound& operator+=(const RhythmRound& other) {
    wait += other.wait;
    vector += other.vector;
    return *this;
  }
  // Mean resultant length: 1 if all waiting is at one worker, 0 if spread evenly.
  double r() const { return wait > 0 ? std::abs(vector) / wait : 0; }
};

std::vector<RhythmRound> rhythm_rounds_of(Series wait, size_t workers) {
  std::vector<RhythmRound> rounds;
  for (size_t at = 0; at + workers <= wait.size(); at += workers) {
    RhythmRound& round = rounds.emplace_back();
    for (size_t i = 0; i < workers; ++i) {
      const double angle =
          2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(workers);
      round += {wait[at + i], std::polar(wait[at + i], angle)};
    }
  }
  return rounds;
}

constexpr double kClearRhythm = 0.5;  // r of a rhythm worth the word
constexpr size_t kRoundsOfABlock = 4, kFewestBlocks = 4, kMostBlocks = 24;

// None where there are too few.
std::vector<RhythmRound> blocks_of(std::span<const RhythmRound> rounds) {
  const size_t count = std::min(rounds.size() / kRoundsOfABlock, kMostBlocks);
  if (count < kFewestBlocks) return {};
  std::vector<RhythmRound> blocks(count);
  for (size_t i = 0; i < rounds.size(); ++i) blocks[i * count / rounds.size()] += rounds[i];
  return blocks;
}

// Root mean square of the blocks' r, each block with the weight of its waiting.
double local_r(std::span<const RhythmRound> blocks) {
  double squares = 0, wait = 0;
  for (const RhythmRound& block : blocks)
    squares += block.r() * block.r() * block.wait, wait += block.wait;
  return wait > 0 ? std::sqrt(squares / wait) : 0;
}

}  // namespace

std::optional<Pattern> desynchronised_of(const Window& w, const StepsSeen& seen) {
  if (seen.loader != "batch" || seen.workers < 2) return std::nullopt;
  std::vector<RhythmRound> rounds = rhythm_rounds_of(w.wait, static_cast<size_t>(seen.workers));
  const std::vector<RhythmRound> blocks = blocks_of(rounds);
  if (blocks.empty()) return std::nullopt;
  RhythmRound all;
  double with_rhythm_ms = 0;
  for (const RhythmRound& block : blocks) all += block, with_rhythm_ms += block.wait * block.r();
  const double local = local_r(blocks);
  const double lost = w.idle.empty() ? with_rhythm_ms : std::min(with_rhythm_ms, sum_of(w.idle));
  if (lost / w.ms < kOfImportance) return std::nullopt;
  const std::span<const RhythmRound> in_order(blocks);
  const double first = local_r(in_order.first(blocks.size() / 3)),
               last = local_r(in_order.last(blocks.size() / 3));
  const bool fades = first >= kClearRhythm && last < first / 2,
             wanders = local >= kClearRhythm && all.r() < 0.7 * local;
  if (!fades && !wanders) return std::nullopt;
  std::uint64_t seed = 0;
  const double p = chance_of(local, [&] {
    shuffle(rounds, ++seed);
    return local_r(blocks_of(rounds));
  });
  if (p > kLevel) return std::nullopt;
  return Pattern{
      "desynchronised",
      format("R of waits on a round of %d workers: %.2f within blocks of %zu rounds, %.2f over the "
             "window; first third %.2f, last third %.2f; p <= %.2g; %.1f %% of the window",
             seen.workers, local, rounds.size() / blocks.size(), all.r(), first, last, p,
             100 * lost / w.ms),
      std::string("The device waits once a round of the workers, but the rhythm ") +
          (fades ? "fades: long waits become short ones, spread evenly. "
                 : "wanders from one worker to the next. ") +
          "The workers have fallen out of step. The loader is as slow as before, only the waits "
          "lie elsewhere: judge it by means over whole rounds, and look at its largest stage."};
}

}  // namespace feedrate::judge
