#pragma once
#include <nlohmann/json.hpp>
#include <vector>

#include "experiment/rank.h"

namespace feedrate {

// What the record says of each rank and of all together.
nlohmann::ordered_json rank_json(std::size_t number, const RankResult& rank, int batch_size);

// The rank that the others wait for: the one that waits least itself, if that is less than the others by 5 % of a step;
// else null.
nlohmann::ordered_json straggler(const std::vector<RankResult>& ranks, double step_ms);

// CPUs that the ranks may use, all machines together.
int cpus_of(const std::vector<RankResult>& ranks);

// What `nvidia-smi dmon` shows, a number a second; null where the device is no GPU, or nothing can be seen of it.
nlohmann::ordered_json gpu_json(const RankResult& rank);

// Of the host: means over the window, and once a second.
nlohmann::ordered_json monitors_json(const std::vector<RankResult>& ranks);

// What all processes of the ranks got from storage within the window; -1: cannot be told.
double storage_read_bytes(const std::vector<RankResult>& ranks);

// Wall time of the rank's window.
double window_seconds(const RankResult& rank);
// Of all ranks together: from the last to begin to the last to end.
double window_seconds(const std::vector<RankResult>& ranks);

// Three decimals of a millisecond: a microsecond, which is less than any of these times is good for.
double rounded(double value);

}  // namespace feedrate
