#pragma once
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "pipeline/batch.h"

namespace feedrate::pipeline {

// Where slabs come from; passed in, so that a device can hand out memory that it has pinned.
class SlabAllocator {
 public:
  virtual ~SlabAllocator() = default;
  virtual std::byte* allocate(std::size_t bytes) = 0;  // throws std::bad_alloc or Error
  virtual void release(std::byte* slab, std::size_t bytes) noexcept = 0;
};
std::shared_ptr<SlabAllocator> host_slabs();  // ordinary memory, aligned to 64 bytes, touched once

// A fixed number of batches, allocated once. Thread-safe. Lives as long as any lease of it.
class SlabRing : public std::enable_shared_from_this<SlabRing> {
 public:
  static std::shared_ptr<SlabRing> make(const BatchSpec& spec, int slabs,
                                        std::shared_ptr<SlabAllocator> allocator);
  ~SlabRing();
  SlabRing(const SlabRing&) = delete;
  SlabRing& operator=(const SlabRing&) = delete;

  // A free batch; waits for one. Null once the ring is closed.
  BatchLease acquire();
  // A free batch if there is one now.
  BatchLease try_acquire();
  // Wakes every acquire(), now and later, with null. Leases that are out stay valid.
  void close();
  int size() const { return static_cast<int>(batches_.size()); }

 private:
  friend struct ReturnToRing;
  SlabRing(const BatchSpec& spec, std::shared_ptr<SlabAllocator> allocator);
  BatchLease take();  // with the lock held
  void give_back(HostBatch* batch);

  const BatchSpec spec_;
  const std::shared_ptr<SlabAllocator> allocator_;
  std::vector<HostBatch> batches_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<HostBatch*> free_;
  bool closed_ = false;
};

}  // namespace feedrate::pipeline
