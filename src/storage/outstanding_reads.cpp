#include "storage/outstanding_reads.h"

#include "measure/clock.h"
#include "storage/container.h"

namespace feedrate {

void OutstandingReads::Slot::begin(const SampleFile& sample) {
  sample_.store(&sample, std::memory_order_relaxed);
  since_ns_.store(now_ns(), std::memory_order_release);
}

OutstandingReads::Slot& OutstandingReads::add() {
  const std::lock_guard lock(mutex_);
  return slots_.emplace_back();
}

std::optional<OutstandingReads::Read> OutstandingReads::oldest() const {
  const std::lock_guard lock(mutex_);
  const SampleFile* sample = nullptr;
  std::int64_t since = 0;
  for (const Slot& slot : slots_) {
    const std::int64_t began = slot.since_ns_.load(std::memory_order_acquire);
    if (began == 0 || (since != 0 && began >= since)) continue;
    // A slot that has gone on to another sample since then holds a young read, and is asked again soon.
    sample = slot.sample_.load(std::memory_order_relaxed);
    since = began;
  }
  if (since == 0) return std::nullopt;
  const bool packed = !dataset_.container->packed.empty();
  return Read{sample_prefix(dataset_) + sample->path, packed ? sample->offset : 0, seconds(now_ns() - since)};
}

}  // namespace feedrate
