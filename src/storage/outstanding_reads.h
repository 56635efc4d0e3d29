#pragma once
#include <atomic>
#include <list>
#include <mutex>
#include <optional>
#include <string>

#include "storage/dataset.h"

namespace feedrate::storage {

// Which samples are being read, so that a read that never returns can be reported: the thread that
// waits for the storage can neither report it nor be interrupted. Thread-safe; costs a reader two
// stores and a look at the clock.
class OutstandingReads {
 public:
  // One reader's entry; for one thread at a time.
  class Slot {
   public:
    // It waits for this sample of the dataset, since `since_ns` (measure::now_ns()) or an
    // equivalent time; without it, since now.
    void begin(const SampleFile& sample);
    void begin(const SampleFile& sample, std::int64_t since_ns);
    void end() { since_ns_.store(0, std::memory_order_release); }

   private:
    friend class OutstandingReads;
    std::atomic<const SampleFile*> sample_{nullptr};
    std::atomic<std::int64_t> since_ns_{0};  // 0: reads nothing
  };

  // `dataset` outlives this.
  explicit OutstandingReads(const DatasetVariant& dataset) : dataset_(dataset) {}

  // An entry for one more reader, valid as long as this object.
  Slot& add();

  struct Read {
    std::string path;
    std::uint64_t offset = 0;  // at which it begins in that file, or in the container's
    double seconds = 0;        // since it began
  };
  std::optional<Read> oldest() const;

 private:
  const DatasetVariant& dataset_;
  mutable std::mutex mutex_;
  std::list<Slot> slots_;
};

// Tells `slot`, as long as it lives, that the thread waits for a sample of the dataset, or for
// something that lies where the sample does. `slot` may be null.
class Waiting {
 public:
  Waiting(OutstandingReads::Slot* slot, const SampleFile& sample) : slot_(slot) { begin(sample); }
  ~Waiting() {
    if (slot_) slot_->end();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  // What it waited for has come; now it waits for this.
  void begin(const SampleFile& sample) const {
    if (slot_) slot_->begin(sample);
  }

 private:
  OutstandingReads::Slot* const slot_;
};

}  // namespace feedrate::storage
