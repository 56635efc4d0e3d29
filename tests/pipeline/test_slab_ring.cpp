#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>

#include "pipeline/slab_ring.h"

namespace feedrate::tests {
namespace {

constexpr pipeline::BatchSpec kSpec{2, {4, 4}, codec::Dtype::uint8};

class CountingSlabs : public pipeline::SlabAllocator {
 public:
  std::byte* allocate(std::size_t bytes) override {
    ++alive;
    return new std::byte[bytes];
  }
  void release(std::byte* slab, std::size_t) noexcept override {
    --alive;
    delete[] slab;
  }
  int alive = 0;
};

TEST(SlabRing, AcquireWaitsUntilASlabComesBack) {
  const auto ring = pipeline::SlabRing::make(kSpec, 1, pipeline::host_slabs());
  pipeline::BatchLease first = ring->acquire();
  std::atomic<bool> got{false};
  std::jthread other([&] {
    const pipeline::BatchLease second = ring->acquire();
    got = second != nullptr;
  });
  EXPECT_FALSE(got);
  first.reset();
  other.join();
  EXPECT_TRUE(got);
}

TEST(SlabRing, CloseWakesWhoWaits) {
  const auto ring = pipeline::SlabRing::make(kSpec, 1, pipeline::host_slabs());
  const pipeline::BatchLease held = ring->acquire();
  std::jthread waiting([&] { EXPECT_EQ(ring->acquire(), nullptr); });
  ring->close();
}

TEST(SlabRing, ALeaseKeepsItsMemory) {
  const auto slabs = std::make_shared<CountingSlabs>();
  {
    pipeline::BatchLease lease;
    {
      const auto ring = pipeline::SlabRing::make(kSpec, 3, slabs);
      lease = ring->acquire();
      ring->close();
    }
    EXPECT_EQ(slabs->alive, 3);
    lease->pixels[kSpec.bytes() - 1] = std::byte{1};
  }
  EXPECT_EQ(slabs->alive, 0);
}

}  // namespace
}  // namespace feedrate::tests
