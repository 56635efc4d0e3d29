#include "storage/storage.h"

#include "measure/clock.h"

namespace feedrate::storage {

ReadLatencies& ReadLatencies::operator+=(const ReadLatencies& other) {
  reads += other.reads, opens += other.opens;
  seen_late += other.seen_late, unregistered += other.unregistered;
  return *this;
}
ReadLatencies& ReadLatencies::operator-=(const ReadLatencies& other) {
  reads -= other.reads, opens -= other.opens;
  seen_late -= other.seen_late, unregistered -= other.unregistered;
  return *this;
}

void Storage::submit(std::span<const ReadRequest> requests) {
  for (const ReadRequest& request : requests) in_flight_[request.tag] = {request.sample, 0};
  // Announcing a file opens it, which may hang as well.
  const bool may_wait = slot_ && depth_ > 1;
  if (may_wait) {
    polled_ns_ = measure::now_ns();
    begin_waiting();
  }
  start(requests);
  if (may_wait) end_waiting();
}

std::size_t Storage::poll(std::span<ReadCompletion> done, bool wait) {
  polled_ns_ = measure::now_ns();
  if (slot_) begin_waiting();
  const std::size_t count_done = finish(done, wait);
  const auto completed = done.first(count_done);
  if (slot_) end_waiting();
  for (const ReadCompletion& completion : completed) {
    in_flight_[completion.tag].sample = nullptr;
    if (counters_) count(completion);
  }
  return count_done;
}

// What has been waited for longest stands for all. Time between two calls does not count: the
// worker does other things then, and nobody knows whether the bytes are there.
void Storage::begin_waiting() {
  const InFlight* oldest = nullptr;
  for (const InFlight& request : in_flight_) {
    if (request.sample && (!oldest || request.waited_ns > oldest->waited_ns)) oldest = &request;
  }
  if (oldest) slot_->begin(*oldest->sample, polled_ns_ - oldest->waited_ns);
}

void Storage::end_waiting() {
  slot_->end();
  if (depth_ == 1) return;
  const std::int64_t waited = measure::now_ns() - polled_ns_;
  for (InFlight& request : in_flight_) request.waited_ns += waited;
}

void Storage::count(const ReadCompletion& done) {
  if (done.error) return;
  if (done.seen_late)
    counters_->seen_late.fetch_add(1, std::memory_order_relaxed);
  else if (done.latency_ns >= 0)
    counters_->reads.add(done.latency_ns);
  if (done.open_ns >= 0) counters_->opens.add(done.open_ns);
  if (done.unregistered) counters_->unregistered.fetch_add(1, std::memory_order_relaxed);
}

void Storage::add_latencies(ReadLatencies& to) const {
  if (!counters_) return;
  counters_->reads.add_to(to.reads);
  counters_->opens.add_to(to.opens);
  to.seen_late += counters_->seen_late.load(std::memory_order_relaxed);
  to.unregistered += counters_->unregistered.load(std::memory_order_relaxed);
}

ReadCompletion Storage::read(const SampleFile& sample, std::span<std::byte> tail) {
  const ReadRequest request{0, &sample, tail};
  submit({&request, 1});
  ReadCompletion done;
  poll({&done, 1}, true);
  if (done.error) std::rethrow_exception(done.error);
  return done;
}

ReadCompletion Storage::read(const SampleFile& sample, Buffer& into) {
  ReadCompletion done = read(sample, std::span(into.resize(sample.bytes), sample.bytes));
  done.bytes = into.bytes();
  return done;
}

void ReadsOnDemand::start(std::span<const ReadRequest> requests) {
  for (const ReadRequest& request : requests) {
    pending_[(next_ + waiting_++) % pending_.size()] = request;
    if (depth() > 1) announce(request);
  }
}

// One at a time, so that a worker can go on with its bytes.
std::size_t ReadsOnDemand::finish(std::span<ReadCompletion> done, bool) {
  if (done.empty() || waiting_ == 0) return 0;
  const ReadRequest request = pending_[next_];
  next_ = (next_ + 1) % pending_.size(), --waiting_;
  done[0] = {.tag = request.tag, .latency_ns = 0};
  try {
    read_sample(request, done[0]);
    done[0].latency_ns += measure::now_ns() - polled_ns() - done[0].lock_ns;
  } catch (...) {
    done[0].error = std::current_exception();
  }
  return 1;
}

}  // namespace feedrate::storage
