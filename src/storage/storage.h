#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "measure/latency.h"
#include "storage/buffer.h"
#include "storage/dataset.h"
#include "storage/outstanding_reads.h"

namespace feedrate::storage {

// One sample to read whole.
struct ReadRequest {
  std::uint32_t tag = 0;  // below the storage's depth, and not in flight: names the request
  const SampleFile* sample = nullptr;  // as the manifest has it; stays until the completion
  std::span<std::byte> tail{};         // receives the sample's last bytes, as many as it holds
};

struct ReadCompletion {
  std::uint32_t tag = 0;
  // The sample without what went to `tail`. Valid until its tag is submitted again.
  std::span<const std::byte> bytes{};
  std::exception_ptr error{};  // an Error naming path, offset and reason; null: the bytes are there
  std::int64_t lock_ns = 0;    // it waited so long for a lock of the library that reads
  // How long the request took, the opening of its file included, without lock_ns; and how long the
  // opening took. -1: not known apart. What several requests wait for at once counts in each.
  std::int64_t latency_ns = -1, open_ns = -1;
  bool seen_late = false, unregistered = false;  // see ReadLatencies
};

// Durations of requests and of the openings of files; see ReadCompletion.
struct ReadLatencies {
  measure::LatencyHistogram reads, opens;
  // Requests that may have ended long before the worker saw it, which did other things meanwhile.
  // How long they took is unknown: they are not in `reads`.
  std::int64_t seen_late = 0;
  // Requests of "uring-direct" whose memory could not be registered beforehand, for RLIMIT_MEMLOCK:
  // the kernel pins it for each of them anew, which takes CPU time.
  std::int64_t unregistered = 0;

  std::int64_t count() const { return reads.count() + seen_late; }  // of requests
  // Of all requests; see LatencyHistogram.
  std::optional<std::int64_t> percentile_ns(double p) const {
    return reads.percentile_ns(p, seen_late);
  }
  ReadLatencies& operator+=(const ReadLatencies& other);
  ReadLatencies& operator-=(const ReadLatencies& other);
};

// Name to bytes, in batches: up to `depth` requests are in flight, and complete in any order. One
// per worker, not thread-safe. The destructor waits for what is in flight: it writes into `tail`.
class Storage {
 public:
  explicit Storage(int depth) : depth_(depth), in_flight_(static_cast<std::size_t>(depth)) {}
  virtual ~Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  int depth() const { return depth_; }

  void submit(std::span<const ReadRequest> requests);
  // Writes completions of submitted requests, in any order, and returns how many. Waits for at
  // least one if `wait` and any is outstanding.
  std::size_t poll(std::span<ReadCompletion> done, bool wait);

  // Reads one sample while nothing is in flight. Throws the read's Error: then what `tail` holds
  // means nothing.
  ReadCompletion read(const SampleFile& sample, std::span<std::byte> tail = {});
  // The same into `into`, which becomes as long as the sample.
  ReadCompletion read(const SampleFile& sample, Buffer& into);

  // From now on what poll() waits for is told to `slot`, which outlives this.
  void report_waits_to(OutstandingReads::Slot& slot) { slot_ = &slot; }
  // From now on every request's durations are counted. Any thread may ask for them at any time.
  void count_latencies() { counters_.emplace(); }
  void add_latencies(ReadLatencies& to) const;

 protected:
  std::int64_t polled_ns() const { return polled_ns_; }  // the poll() that calls finish() began

 private:
  virtual void start(std::span<const ReadRequest> requests) = 0;
  virtual std::size_t finish(std::span<ReadCompletion> done, bool wait) = 0;

  // A request between submit() and its completion.
  struct InFlight {
    const SampleFile* sample = nullptr;  // null: none
    std::int64_t waited_ns = 0;          // in poll(), for this or another one
  };
  // Both look at polled_ns_.
  void begin_waiting();
  void end_waiting();
  void count(const ReadCompletion& done);

  const int depth_;
  std::vector<InFlight> in_flight_;  // by tag
  OutstandingReads::Slot* slot_ = nullptr;
  std::int64_t polled_ns_ = 0;  // poll(), or submit(), began
  struct Counters {
    measure::LatencyCounters reads, opens;
    std::atomic<std::int64_t> seen_late{0}, unregistered{0};
  };
  std::optional<Counters> counters_;
};

// A storage that reads one request after the other, when its completion is asked for. With a depth
// it may announce to the kernel what it will read.
class ReadsOnDemand : public Storage {
 public:
  explicit ReadsOnDemand(int depth) : Storage(depth), pending_(static_cast<std::size_t>(depth)) {}

 private:
  void start(std::span<const ReadRequest> requests) final;
  std::size_t finish(std::span<ReadCompletion> done, bool wait) final;

  // The request will be carried out after others. Never fails.
  virtual void announce(const ReadRequest&) {}
  // Fills all of `done` but its tag, or throws what becomes its error. `latency_ns` comes as 0 and
  // takes what announce() took for this request; the time of this call is added.
  virtual void read_sample(const ReadRequest& request, ReadCompletion& done) = 0;

  std::vector<ReadRequest> pending_;  // a ring: `waiting_` of them from next_ on
  std::size_t next_ = 0, waiting_ = 0;
};

}  // namespace feedrate::storage
