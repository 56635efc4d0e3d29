#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "device/arrivals.h"
#include "device/gpu_streams.h"
#include "pipeline/batch.h"
#include "pipeline/slab_ring.h"

namespace feedrate::device {

// The schedule of a GPU's copies: on a stream of their own, into one of two buffers ("slots"), so
// that a batch travels while the GPU trains on the one before. Holds a slab until its copy has
// ended; of the slabs given to it, at most one when copy() returns and none after wait(). All its
// waits are for one copy, none for the GPU.
template <GpuStreams Gpu>
class CopySlots {
 public:
  using Stream = typename Gpu::Stream;
  using Event = typename Gpu::Event;

  static constexpr std::size_t kSlots = 2;

  // Queues on `copies` what brings the batch into the slot's buffers. The batch stays until the
  // stream has come that far. Returns who decodes how many of its pictures.
  using Put = std::function<DecodedBy(std::size_t slot, const pipeline::HostBatch& batch,
                                      const Stream& copies)>;
  // Is told of a batch's copy when it has ended: the events around it, and the batch's number.
  using Seen = std::function<void(const Event& begun, const Event& copied, std::int64_t batch)>;

  // `compute`: the stream that reads the buffers.
  CopySlots(Stream compute, Stream copies, Put put)
      : compute_(compute), stream_(copies), put_(std::move(put)) {}
  // Slabs and buffers must outlive the copies that use them.
  ~CopySlots() { Gpu::settle(stream_); }
  CopySlots(const CopySlots&) = delete;
  CopySlots& operator=(const CopySlots&) = delete;

  // Starts the copy into the slot that it returns, and has `compute` wait for it. What put() throws
  // comes out; the batch is then given back, once nothing of it is on its way any more.
  std::size_t copy(pipeline::BatchLease batch) {
    wait();  // for the copy before this one: with the GPU two steps behind it ended long ago
    const std::size_t number = copies_ % kSlots;
    Slot& slot = slots_[number];
    slot.lease = std::move(batch);
    try {
      slot.read.block(stream_);
      slot.begun.record(stream_);
      slot.decoded = put_(number, *slot.lease, stream_);
      slot.copied.record(stream_);
      slot.copied.block(compute_);
    } catch (...) {
      Gpu::settle(stream_);
      slot.lease.reset();
      throw;
    }
    ++copies_;
    return number;
  }

  // What has been queued on `compute` so far is all that reads the last batch: when it has run, the
  // buffer may be written again.
  void done_reading() { slots_[(copies_ + 1) % kSlots].read.record(compute_); }

  // Gives back the slab if its copy has ended; does not wait.
  void release() {
    for (Slot& slot : slots_) {
      if (slot.lease && slot.copied.query()) arrived(slot);
    }
  }
  // Waits for the copy, and gives back the slab.
  void wait() {
    for (Slot& slot : slots_) {
      if (!slot.lease) continue;
      slot.copied.synchronize();
      arrived(slot);
    }
  }

  const Arrivals& arrivals() const { return arrivals_; }  // of slabs that were given back
  void watch(Seen seen) { seen_ = std::move(seen); }

 private:
  struct Slot {
    pipeline::BatchLease lease;
    DecodedBy decoded;
    Event begun = Gpu::sleeping_event(), copied = Gpu::sleeping_event();
    Event read = Gpu::untimed_event();
  };

  void arrived(Slot& slot) {
    if (seen_) seen_(slot.begun, slot.copied, slot.lease->sequence);
    slot.lease.reset();
    const auto busy_ns =
        static_cast<std::int64_t>(1e6 * static_cast<double>(slot.begun.elapsed_time(slot.copied)));
    arrivals_ += Arrivals{.batches = 1, .busy_ns = busy_ns, .decoded = slot.decoded};
  }

  const Stream compute_, stream_;
  const Put put_;
  std::array<Slot, kSlots> slots_;
  std::size_t copies_ = 0;
  Arrivals arrivals_;
  Seen seen_;  // may be empty
};

}  // namespace feedrate::device
