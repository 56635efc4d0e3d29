#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace feedrate::measure {

// What an event of a trace shows. The first are the stages, in Stage's order.
enum class TraceKind : std::uint8_t {
  lock,
  read,
  decode,
  augment,
  collate,
  wait,    // the training thread, for a batch
  queue,   // a batch, from when it was whole to when it was taken
  submit,  // the training thread, handing a batch to the device
  copy,    // of a batch to the device
  step
};
std::string_view name_of(TraceKind kind);

struct TraceEvent {
  std::int64_t start_ns = 0;  // by now_ns()
  std::int64_t duration_ns = 0;
  std::int64_t index = 0;  // of a stage: the sample's place in the rank's stream; else the batch's
  TraceKind kind = TraceKind::lock;
};

// The events of one thread, or of one thing that a thread looks at. Written by that thread alone,
// without locks and without asking for memory, which was set aside before; read once the thread has
// ended. The first `most` events stay: what came before a moment is then whole, and the warm-up and
// the start of the window, which explain most, are there. Two threads' lanes share no cache line.
class alignas(64) TraceLane {
 public:
  TraceLane(std::string row, std::size_t most) : row_(std::move(row)), most_(most) {
    events_.reserve(most);  // pages that are never written cost no memory
  }
  TraceLane(const TraceLane&) = delete;
  TraceLane& operator=(const TraceLane&) = delete;

  void add(TraceKind kind, std::int64_t start_ns, std::int64_t end_ns, std::int64_t index) {
    if (events_.size() == most_) {
      ++left_out_;
      return;
    }
    events_.push_back({start_ns, end_ns - start_ns, index, kind});
  }

  const std::string& row() const { return row_; }
  const std::vector<TraceEvent>& events() const { return events_; }
  std::int64_t left_out() const { return left_out_; }

 private:
  const std::string row_;
  const std::size_t most_;
  std::vector<TraceEvent> events_;
  std::int64_t left_out_ = 0;
};

// The time from start_ns to end_ns in which a step ran; the thread that collects steps has it.
struct TraceStep {
  std::int64_t start_ns = 0, end_ns = 0;
};

// What the device's library did within steps, as its own profiler saw it. Those of a row lie one
// after the other or within each other.
struct TraceOperator {
  std::string name;
  std::int64_t start_ns = 0;  // by now_ns()
  std::int64_t duration_ns = 0;
  std::int64_t row = 0;    // a thread, or a stream of the device
  bool on_device = false;  // a kernel or a copy; else what a thread of this process did
};

// A moment that is worth a line across all rows.
struct TraceMark {
  std::string name;
  std::int64_t at_ns = 0;
};

// What one rank did, batch by batch. The rank's thread makes it, adds its workers before they run,
// and hands it on when they have ended; it outlives them.
class Trace {
 public:
  // Of each row: 6.4 MB, some minutes of a worker that decodes JPEG files.
  static constexpr std::size_t kMostEvents = 200'000;

  Trace(int rank, int batch_size, std::size_t most_events = kMostEvents);

  TraceLane& add_worker();
  // All of these are the training thread's to write to.
  TraceLane& training() { return training_; }
  TraceLane& queue() { return queue_; }
  TraceLane& copies() { return copies_; }

  // The next step is given this batch.
  void submitted(std::int64_t batch);
  // All steps, in order, once they have ended.
  void set_steps(const std::vector<TraceStep>& steps);
  // The first `most` of them stay.
  void set_operators(std::vector<TraceOperator> operators);
  void mark(std::string name, std::int64_t at_ns) { marks_.push_back({std::move(name), at_ns}); }
  void set_device(std::string name) { device_ = std::move(name); }

  int rank() const { return rank_; }
  int batch_size() const { return batch_size_; }
  const std::string& device() const { return device_; }
  const std::vector<TraceMark>& marks() const { return marks_; }
  const std::vector<TraceOperator>& operators() const { return operators_; }
  const std::vector<std::unique_ptr<TraceLane>>& workers() const { return workers_; }
  const TraceLane& training() const { return training_; }
  const TraceLane& queue() const { return queue_; }
  const TraceLane& copies() const { return copies_; }
  const TraceLane& steps() const { return steps_; }
  std::size_t most_events() const { return most_events_; }
  std::int64_t operators_left_out() const { return operators_left_out_; }
  std::int64_t left_out() const;

 private:
  const int rank_, batch_size_;
  const std::size_t most_events_;
  TraceLane training_, queue_, copies_, steps_;
  std::vector<std::unique_ptr<TraceLane>> workers_;
  std::vector<std::int64_t> batches_;  // by step
  std::vector<TraceMark> marks_;
  std::vector<TraceOperator> operators_;  // in the order of their starts
  std::int64_t operators_left_out_ = 0;
  std::string device_;
};

}  // namespace feedrate::measure
