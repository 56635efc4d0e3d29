#include "pipeline/sampler.h"

#include <algorithm>
#include <bit>
#include <mutex>

#include "base/error.h"
#include "base/random.h"

namespace feedrate::pipeline {
namespace {

// The value at a position of a permutation of 0 ... size - 1, by its key. A Feistel network
// permutes the next even power of two; walking along it until the value falls below `size` (fewer
// than 4 rounds on average) makes it a permutation of them (Black and Rogaway 2002, "cycle
// walking"). No table, whatever the size.
std::int64_t permuted(std::int64_t position, std::int64_t size, std::uint64_t key) {
  const int bits = std::bit_width(static_cast<std::uint64_t>(size - 1));
  const int half_bits = std::max(1, (bits + 1) / 2);
  const std::uint64_t mask = (1ULL << half_bits) - 1;
  auto x = static_cast<std::uint64_t>(position);
  do {
    std::uint64_t left = x >> half_bits;
    std::uint64_t right = x & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t mixed = left ^ (mix64(key + round, right) & mask);
      left = right;
      right = mixed;
    }
    x = (left << half_bits) | right;
  } while (x >= static_cast<std::uint64_t>(size));
  return static_cast<std::int64_t>(x);
}

}  // namespace

// Where the shards lie in an epoch. Loaders ask for neighbouring positions, so the epoch that was
// asked for last is kept.
class Sampler::ShardOrder {
 public:
  ShardOrder(std::vector<std::int64_t> first, std::int64_t size)
      : first_(std::move(first)), size_(size) {}

  std::int64_t sample_at(std::int64_t position, std::int64_t epoch, std::uint64_t key) {
    const std::lock_guard lock(mutex_);
    if (epoch != epoch_) lay_out(epoch, key);
    const auto next = std::ranges::upper_bound(begins_, position);
    const auto k = static_cast<std::size_t>(next - begins_.begin()) - 1;
    return first_[shards_[k]] + position - begins_[k];
  }

 private:
  void lay_out(std::int64_t epoch, std::uint64_t key) {
    const auto count = static_cast<std::int64_t>(first_.size());
    shards_.clear(), begins_.clear();
    std::int64_t begin = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      const auto shard = static_cast<std::size_t>(permuted(k, count, key));
      shards_.push_back(shard), begins_.push_back(begin);
      begin += (shard + 1 < first_.size() ? first_[shard + 1] : size_) - first_[shard];
    }
    epoch_ = epoch;
  }

  const std::vector<std::int64_t> first_;
  const std::int64_t size_;
  std::mutex mutex_;
  std::int64_t epoch_ = -1;
  std::vector<std::size_t> shards_;   // of the epoch, in its order
  std::vector<std::int64_t> begins_;  // the position of each one's first sample
};

Sampler::Sampler(std::int64_t size, std::uint64_t seed, int rank, int world, SampleOrder order)
    : size_(size),
      seed_(seed),
      rank_(rank),
      world_(world),
      per_rank_(size / world),
      order_(order.order) {
  if (per_rank_ < 1) {
    throw Error("dataset",
                "has " + std::to_string(size) + " samples for " + std::to_string(world) + " GPUs",
                "make a larger one with `feedrate gen --count`");
  }
  if (order_ == Order::by_shard)
    shards_ = std::make_shared<ShardOrder>(std::move(order.first_of_shard), size);
}

Draw Sampler::at(std::int64_t index) const {
  const std::int64_t epoch = index / per_rank_, step = index % per_rank_;
  const bool dealt_out = order_ == Order::shuffled;
  const std::int64_t sample =
      sample_at(dealt_out ? step * world_ + rank_ : rank_ * per_rank_ + step, epoch);
  const std::uint64_t augment =
      mix64(mix64(seed_, static_cast<std::uint64_t>(epoch)), static_cast<std::uint64_t>(sample));
  return {sample, epoch, augment, index};
}

std::int64_t Sampler::sample_at(std::int64_t position, std::int64_t epoch) const {
  const std::uint64_t key = mix64(seed_ ^ 0x5eedULL, static_cast<std::uint64_t>(epoch));
  if (order_ == Order::sequential) return position;
  if (order_ == Order::by_shard) return shards_->sample_at(position, epoch, key);
  return permuted(position, size_, key);
}

}  // namespace feedrate::pipeline
