#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace feedrate::pipeline {

// One sample as it is to be drawn.
struct Draw {
  std::int64_t sample = 0;  // index in the dataset
  std::int64_t epoch = 0;
  std::uint64_t augment_seed = 0;  // of its crop and flip
  std::int64_t index = 0;          // position in this rank's stream
};

enum class Order : std::uint8_t {
  shuffled,    // every sample anywhere in the epoch
  sequential,  // as they are stored
  by_shard,    // the packed files in random order, each from its beginning to its end
};

struct SampleOrder {
  Order order = Order::shuffled;
  std::vector<std::int64_t> first_of_shard{};  // by_shard: ascending, from 0
};

// Which sample a rank sees at each position of its endless stream: a pure function of (seed, epoch,
// rank, world, index), so that ranks see different samples and make equal steps, and an epoch's
// pixels do not depend on the number of workers. Each epoch is an order of the dataset that the
// ranks share: dealt out in turn where it is shuffled, else each has a stretch of it. The size %
// world samples at its end are left out of that epoch. Thread-safe.
class Sampler {
 public:
  // size >= world >= 1, 0 <= rank < world.
  Sampler(std::int64_t size, std::uint64_t seed, int rank, int world, SampleOrder order = {});
  Draw at(std::int64_t index) const;
  std::int64_t samples_per_epoch() const { return per_rank_; }  // of this rank

 private:
  class ShardOrder;

  std::int64_t sample_at(std::int64_t position, std::int64_t epoch) const;

  std::int64_t size_;
  std::uint64_t seed_;
  int rank_;
  int world_;
  std::int64_t per_rank_;
  Order order_;
  std::shared_ptr<ShardOrder> shards_;  // of Order::by_shard
};

}  // namespace feedrate::pipeline
