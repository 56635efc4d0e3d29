#pragma once
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

}  // namespace feedrate::tests
