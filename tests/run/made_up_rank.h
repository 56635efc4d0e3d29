#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>

#include "run/rank.h"

namespace feedrate::tests {

inline constexpr std::int64_t kMs = 1'000'000;

// A rank whose steps take 10 ms, of which it waits `sync_ms` for the others. The first is warm-up.
inline run::RankResult rank_of(std::int64_t sync_ms, std::int64_t steps = 10) {
  run::RankResult rank;
  for (std::int64_t i = 0; i < steps; ++i) {
    rank.steps.push_back({i * 10 * kMs, (i + 1) * 10 * kMs,
                          std::numeric_limits<double>::quiet_NaN(), sync_ms * kMs});
    rank.data_wait_ms.push_back(0.5);
  }
  rank.first = 1, rank.last = rank.steps.size(), rank.steady = true;
  rank.device = {.name = "a GPU", .kind = "cuda", .pci_address = "0000:01:00.0"};
  rank.place = {.host = "node1", .pid = 4711, .cpus = {0, 1, 2, 5}};
  return rank;
}

// Steps of 10 ms in pairs of blocks of four; those of the ceiling wait for nothing.
inline run::RankResult rank_in_pairs(int pairs) {
  run::RankResult rank = rank_of(0, 10 * pairs + 2);
  rank.in_pairs = true;
  rank.pairs_took_s = 0.1 * pairs;
  for (int p = 0; p < pairs; ++p) {
    const bool ceiling_first = p % 2 == 1;
    for (int side = 0; side < 2; ++side) {
      const std::int64_t first = 2 + 10 * p + 5 * side;
      const bool is_ceiling = (side == 0) == ceiling_first;
      rank.blocks.push_back(
          {.block = 2 * p + side, .is_ceiling = is_ceiling, .first = first, .last = first + 4});
      for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(first) + 4; ++i)
        if (!is_ceiling) rank.steps[i].start_ns += 3 * kMs;
    }
  }
  rank.first = static_cast<std::size_t>(rank.blocks.front().first);
  rank.last = static_cast<std::size_t>(rank.blocks.back().last);
  return rank;
}

}  // namespace feedrate::tests
