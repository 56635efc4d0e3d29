#include "pipeline/sampler.h"

#include <bit>

#include "base/error.h"
#include "base/random.h"

namespace feedrate::pipeline {

Sampler::Sampler(std::int64_t size, std::uint64_t seed, int rank, int world)
    : size_(size), seed_(seed), rank_(rank), world_(world), per_rank_(size / world) {
  if (per_rank_ < 1) {
    throw Error("dataset",
                "has " + std::to_string(size) + " samples for " + std::to_string(world) + " GPUs",
                "make a larger one with `feedrate gen --count`");
  }
  const int bits = std::bit_width(static_cast<std::uint64_t>(size - 1));
  half_bits_ = (bits + 1) / 2 > 0 ? (bits + 1) / 2 : 1;
}

Draw Sampler::at(std::int64_t index) const {
  const std::int64_t epoch = index / per_rank_;
  const std::int64_t sample = permuted((index % per_rank_) * world_ + rank_, epoch);
  const std::uint64_t augment =
      mix64(mix64(seed_, static_cast<std::uint64_t>(epoch)), static_cast<std::uint64_t>(sample));
  return {sample, epoch, augment, index};
}

// A Feistel network permutes the next even power of two; walking along it until the value falls
// into the dataset (fewer than 4 rounds on average) makes it a permutation of the dataset (Black
// and Rogaway 2002, "cycle walking"). No table, whatever the size.
std::int64_t Sampler::permuted(std::int64_t position, std::int64_t epoch) const {
  const std::uint64_t mask = (1ULL << half_bits_) - 1;
  const std::uint64_t key = mix64(seed_ ^ 0x5eedULL, static_cast<std::uint64_t>(epoch));
  auto x = static_cast<std::uint64_t>(position);
  do {
    std::uint64_t left = x >> half_bits_;
    std::uint64_t right = x & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t mixed = left ^ (mix64(key + round, right) & mask);
      left = right;
      right = mixed;
    }
    x = (left << half_bits_) | right;
  } while (x >= static_cast<std::uint64_t>(size_));
  return static_cast<std::int64_t>(x);
}

}  // namespace feedrate::pipeline
