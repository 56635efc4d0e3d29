#include "measure/trace.h"

#include <algorithm>
#include <array>
#include <utility>

namespace feedrate::measure {

std::string_view name_of(TraceKind kind) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "lock", "read", "decode", "augment", "collate", "wait", "queue", "submit", "copy", "step"};
  return kNames[static_cast<std::size_t>(kind)];
}

Trace::Trace(int rank, int batch_size, std::size_t most_events)
    : rank_(rank),
      batch_size_(batch_size),
      most_events_(most_events),
      training_("training thread", most_events),
      queue_("queue", most_events),
      copies_("device: copies", most_events),
      steps_("device: steps", most_events) {
  batches_.reserve(most_events);
}

TraceLane& Trace::add_worker() {
  const std::string row = "worker " + std::to_string(workers_.size());
  return *workers_.emplace_back(std::make_unique<TraceLane>(row, most_events_));
}

void Trace::submitted(std::int64_t batch) {
  if (batches_.size() < most_events_) batches_.push_back(batch);
}

// Batches and steps have the same bound, so that a step which has no batch is left out anyway.
void Trace::set_steps(const std::vector<TraceStep>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::int64_t batch = i < batches_.size() ? batches_[i] : -1;
    steps_.add(TraceKind::step, steps[i].start_ns, steps[i].end_ns, batch);
  }
}

void Trace::set_operators(std::vector<TraceOperator> operators) {
  std::ranges::stable_sort(
      operators, {}, [](const TraceOperator& o) { return std::pair(o.start_ns, -o.duration_ns); });
  if (operators.size() > most_events_) {
    operators_left_out_ = static_cast<std::int64_t>(operators.size() - most_events_);
    operators.resize(most_events_);
  }
  operators_ = std::move(operators);
}

std::int64_t Trace::left_out() const {
  std::int64_t all = operators_left_out_ + training_.left_out() + queue_.left_out() +
                     copies_.left_out() + steps_.left_out();
  for (const auto& worker : workers_) all += worker->left_out();
  return all;
}

}  // namespace feedrate::measure
