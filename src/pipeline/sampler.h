#pragma once
#include <cstdint>

namespace feedrate::pipeline {

// One sample as it is to be drawn.
struct Draw {
  std::int64_t sample = 0;  // index in the dataset
  std::int64_t epoch = 0;
  std::uint64_t augment_seed = 0;  // of its crop and flip
  std::int64_t index = 0;          // position in this rank's stream
};

// Which sample a rank sees at each position of its endless stream: a pure function of (seed, epoch,
// rank, world, index), so that shards do not overlap, ranks make equal steps, and an epoch's pixels
// do not depend on the number of workers. Each epoch is a permutation of the dataset cut into
// `world` equal shards; the size % world samples at its end are left out of that epoch.
// Thread-safe.
class Sampler {
 public:
  // size >= world >= 1, 0 <= rank < world.
  Sampler(std::int64_t size, std::uint64_t seed, int rank, int world);
  Draw at(std::int64_t index) const;
  std::int64_t samples_per_epoch() const { return per_rank_; }  // of this rank

 private:
  std::int64_t permuted(std::int64_t position, std::int64_t epoch) const;

  std::int64_t size_;
  std::uint64_t seed_;
  int rank_;
  int world_;
  std::int64_t per_rank_;
  int half_bits_;
};

}  // namespace feedrate::pipeline
