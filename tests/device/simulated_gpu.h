#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/random.h"
#include "device/gpu_streams.h"

namespace feedrate::tests {

// A GPU by its rules alone, in simulated time: work of a stream runs in its order, each piece for
// as long as it says; streams know nothing of each other but by events. The host's clock goes on by
// chance at each of its calls, and the device is brought up to it. Used by one thread; one at a
// time.
class SimulatedGpu {
 public:
  // What happens in a piece of work when it begins and when it ends.
  struct Work {
    std::int64_t ns = 0;
    std::function<void()> begin, end;
  };
  struct Record {  // of an event, each time that it is recorded
    bool happened = false;
    std::int64_t at_ns = 0;
  };

  explicit SimulatedGpu(std::uint64_t seed, int streams = 2) : random_(seed), streams_(streams) {
    here() = this;
  }
  ~SimulatedGpu() { here() = nullptr; }
  SimulatedGpu(const SimulatedGpu&) = delete;
  SimulatedGpu& operator=(const SimulatedGpu&) = delete;

  static SimulatedGpu& current() { return *here(); }
  static std::int64_t host_ns() { return current().now_ns_; }

  Random& random() { return random_; }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + random_.below(static_cast<int>(most - least + 1));
  }

  // The host does something else for so long; the device goes on.
  void host_takes(std::int64_t ns) {
    now_ns_ += ns;
    while (!dead_ && step(now_ns_)) {
    }
  }
  void queue(std::size_t stream, Work work) {
    call();
    push(stream, {.work = std::move(work)});
  }
  std::shared_ptr<Record> record(std::size_t stream) {
    call();
    auto made = std::make_shared<Record>();
    push(stream, {.record = made});
    return made;
  }
  void block(std::size_t stream, std::shared_ptr<const Record> until) {
    call();
    push(stream, {.until = std::move(until)});
  }
  bool query(const Record& record) {
    call();
    return record.happened;
  }
  void wait_for(const Record& record) {
    call();
    while (!record.happened)
      if (!step(std::numeric_limits<std::int64_t>::max())) throw std::logic_error("waits for ever");
    wake(record.at_ns);
  }
  void wait_for_stream(std::size_t stream) {
    call();
    while (!streams_[stream].queue.empty())
      if (!step(std::numeric_limits<std::int64_t>::max())) throw std::logic_error("waits for ever");
    wake(streams_[stream].free_ns);
  }
  // Everything fails from now on, as after an error in a kernel: what was queued never runs.
  void die() { dead_ = true; }
  bool is_dead() const { return dead_; }
  void spun() { ++spins_; }
  int spins() const { return spins_; }  // waits for spinning events
  // When the device does what it is at: for work's begin() and end().
  std::int64_t device_ns(std::size_t stream) const { return streams_[stream].free_ns; }

 private:
  struct Operation {  // one of the three
    std::optional<Work> work{};
    std::shared_ptr<Record> record{};
    std::shared_ptr<const Record> until{};
    std::int64_t queued_ns = 0;
    bool began = false;
  };
  struct Stream {
    std::deque<Operation> queue;
    std::int64_t free_ns = 0;  // since when its first operation could have begun
  };

  static SimulatedGpu*& here() {
    static SimulatedGpu* gpu = nullptr;
    return gpu;
  }

  void call() {
    if (dead_) throw std::runtime_error("an illegal memory access was encountered");
    host_takes(between(200, 8000));
  }
  void wake(std::int64_t at_ns) {
    now_ns_ = std::max(now_ns_, at_ns);
    host_takes(between(500, 20'000));
  }
  void push(std::size_t stream, Operation operation) {
    operation.queued_ns = now_ns_;
    streams_[stream].queue.push_back(std::move(operation));
    host_takes(0);
  }

  // When the stream's first operation does its next thing; nothing: it waits.
  static std::optional<std::int64_t> next_of(const Stream& stream) {
    if (stream.queue.empty()) return std::nullopt;
    const Operation& first = stream.queue.front();
    const std::int64_t ready_ns = std::max(stream.free_ns, first.queued_ns);
    if (first.until)
      return first.until->happened ? std::optional(std::max(ready_ns, first.until->at_ns))
                                   : std::nullopt;
    return first.began ? stream.free_ns + first.work->ns : ready_ns;
  }

  // The next thing that happens on the device, up to that time. False: nothing does.
  bool step(std::int64_t until_ns) {
    Stream* next = nullptr;
    std::int64_t at_ns = 0;
    for (Stream& stream : streams_) {
      const auto at = next_of(stream);
      if (!at || *at > until_ns || (next && *at >= at_ns)) continue;
      next = &stream, at_ns = *at;
    }
    if (!next) return false;
    Operation& first = next->queue.front();
    next->free_ns = at_ns;
    if (first.work && !first.began) {
      first.began = true;
      if (first.work->begin) first.work->begin();
      return true;
    }
    if (first.work && first.work->end) first.work->end();
    if (first.record) *first.record = {true, at_ns};
    next->queue.pop_front();
    return true;
  }

  Random random_;
  std::vector<Stream> streams_;
  std::int64_t now_ns_ = 1'000'000;  // of the host
  bool dead_ = false;
  int spins_ = 0;
};

// For device::GpuStreams.
struct SimulatedStreams {
  struct Stream {
    std::size_t number = 0;
    void synchronize() const { SimulatedGpu::current().wait_for_stream(number); }
  };
  class Event {
   public:
    Event(bool spins, bool timed) : spins_(spins), timed_(timed) {}
    void record(const Stream& stream) { last_ = SimulatedGpu::current().record(stream.number); }
    void block(const Stream& stream) const {
      if (last_) SimulatedGpu::current().block(stream.number, last_);
    }
    bool query() const { return !last_ || SimulatedGpu::current().query(*last_); }
    void synchronize() const {
      if (spins_) SimulatedGpu::current().spun();
      if (last_) SimulatedGpu::current().wait_for(*last_);
    }
    // As CUDA has it: a float, and only of what has happened.
    float elapsed_time(const Event& later) const {
      if (!timed_ || !later.timed_) throw std::logic_error("an event without timing");
      if (!last_ || !later.last_ || !last_->happened || !later.last_->happened)
        throw std::logic_error("an event that has not happened");
      return static_cast<float>(1e-6 * static_cast<double>(later.last_->at_ns - last_->at_ns));
    }

   private:
    bool spins_, timed_;
    std::shared_ptr<SimulatedGpu::Record> last_;
  };

  static Event spinning_event() { return {true, true}; }
  static Event sleeping_event() { return {false, true}; }
  static Event untimed_event() { return {false, false}; }
  static void settle(const Stream& stream) noexcept {
    if (!SimulatedGpu::current().is_dead()) stream.synchronize();
  }
};
static_assert(device::GpuStreams<SimulatedStreams>);

}  // namespace feedrate::tests
