#include "storage/outstanding_reads.h"

#include "measure/clock.h"

namespace feedrate::storage {

void OutstandingReads::Slot::begin(const SampleFile& sample) { begin(sample, measure::now_ns()); }

void OutstandingReads::Slot::begin(const SampleFile& sample, std::int64_t since_ns) {
  sample_.store(&sample, std::memory_order_relaxed);
  since_ns_.store(since_ns, std::memory_order_release);
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
    // If the reader has gone on to another sample since then, its read is young, and is looked at
    // again soon.
    sample = slot.sample_.load(std::memory_order_relaxed);
    since = began;
  }
  if (since == 0) return std::nullopt;
  return Read{.path = name_sample(dataset_, *sample),
              .offset = dataset_.packed.empty() ? 0 : sample->offset,
              .seconds = measure::seconds(measure::now_ns() - since)};
}

}  // namespace feedrate::storage
