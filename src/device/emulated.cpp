#include "device/emulated.h"
#include "device/emulated_device.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "device/registry.h"
#include "measure/clock.h"
#include "measure/delays.h"

namespace feedrate::device {
namespace {

class Emulated : public Accelerator {
 public:
  Emulated(EmulatedDevice device, const StepSpec& spec, Group& group)
      : device_(std::move(device)),
        spec_(spec),
        group_(group),
        step_ns_(std::isinf(device_.imgs_per_s)
                     ? 0
                     : std::llround(1e9 * spec.batch.batch_size / device_.imgs_per_s)),
        trace_ns_(nanoseconds(device_.trace_ms)),
        host_cpu_ns_(std::llround(1e6 * host_cpu_ms(device_, spec.emulation))),
        all_reduce_ns_(group.size() > 1 ? std::llround(1e6 * spec.emulation.all_reduce_ms) : 0),
        copy_ns_(static_cast<std::int64_t>(
            std::ceil(1e9 * static_cast<double>(spec.batch.bytes()) / device_.bus_bytes_per_s))),
        copy_delay_(spec.delays) {
    measure::use_precise_sleeps();
  }

  DeviceDescription describe() const override {
    return {.name = device_.name,
            .kind = "emulated",
            .step_ms = measure::ms(step_ns_),
            .host_cpu_ms = measure::ms(host_cpu_ns_),
            .all_reduce_ms = measure::ms(all_reduce_ns_),
            .bus_bytes_per_s = device_.bus_bytes_per_s,
            .source = device_.source,
            .precision = device_.precision,
            .caveat = device_.caveat};
  }
  std::shared_ptr<pipeline::SlabAllocator> slabs() override { return pipeline::host_slabs(); }
  void keep(const pipeline::HostBatch&) override {}  // its steps read nothing

  void submit(pipeline::BatchLease batch) override {
    wait_for_room();
    step(spec_.feed == Feed::streamed ? copy(std::move(batch)) : measure::now_ns());
  }
  void submit_synthetic() override {
    wait_for_room();
    step(measure::now_ns());
  }

  void collect(std::vector<StepRecord>& finished) override {
    const std::int64_t now = measure::now_ns();
    while (next_ < queued_.size() && queued_[next_].end_ns <= now)
      finished.push_back(queued_[next_++]);
    if (next_ < queued_.size() || next_ == 0) return;
    queued_.clear();
    next_ = 0;
  }
  Arrivals arrivals() const override { return arrivals_; }
  void drain() override { measure::sleep_until_ns(last_end_); }

 private:
  // The step before last has ended: its buffer is free from then on.
  void wait_for_room() const { measure::sleep_until_ns(ends_[steps_ % 2]); }

  // `ready`: when the batch was on the device.
  void step(std::int64_t ready) {
    const std::int64_t start = std::max(ready, last_end_);
    // The device carries out what the host has launched: it is not done before that is.
    const std::int64_t worked = std::max(start + length_of(steps_), launch());
    const std::int64_t end = group_.size() > 1 ? averaged(worked) : worked;
    queued_.push_back({start, end, std::numeric_limits<double>::quiet_NaN(), end - worked});
    ends_[steps_++ % 2] = last_end_ = end;
  }
  static std::vector<std::int64_t> nanoseconds(const std::vector<double>& ms) {
    std::vector<std::int64_t> ns;
    for (const double one : ms) ns.push_back(std::llround(1e6 * one));
    return ns;
  }
  std::int64_t length_of(std::size_t step) const {
    return (trace_ns_.empty() ? step_ns_ : trace_ns_[step % trace_ns_.size()]) +
           measure::slept(spec_.delays, measure::Place::step);
  }
  // Burns the CPU time that a step's launches take, and returns when that was done.
  std::int64_t launch() const {
    measure::burn(host_cpu_ns_ + measure::burnt(spec_.delays, measure::Place::step));
    return measure::now_ns();
  }
  // The ranks average their gradients at the end of the step: none is done before the slowest.
  std::int64_t averaged(std::int64_t worked) {
    constexpr measure::Place kHere = measure::Place::all_reduce;
    const std::int64_t end =
        group_.all_reduce_latest(worked) + all_reduce_ns_ + measure::slept(spec_.delays, kHere);
    const std::int64_t burnt = measure::burnt(spec_.delays, kHere);
    if (burnt == 0) return end;
    measure::burn(burnt);
    return std::max(end, measure::now_ns());
  }
  // Returns when the batch was on the device. The copy takes its time by the clock and no CPU, as a
  // GPU's copy engine does. It overlaps the step before, which is only a deadline; the host holds
  // the slab until the copy has ended, as it would wait for a page-locked copy's event. The copy
  // ends at its deadline, however late the host wakes up.
  std::int64_t copy(pipeline::BatchLease batch) {
    const std::int64_t start = measure::now_ns();
    copy_delay_.serve(measure::Place::copy);
    const std::int64_t end = measure::now_ns() + copy_ns_;
    measure::sleep_until_ns(end);
    ++arrivals_.batches;
    arrivals_.busy_ns += end - start;
    if (spec_.copies) spec_.copies->add(measure::TraceKind::copy, start, end, batch->sequence);
    return end;
  }

  const EmulatedDevice device_;
  const StepSpec spec_;
  Group& group_;
  const std::int64_t step_ns_;  // the mean, of a trace
  const std::vector<std::int64_t> trace_ns_;
  const std::int64_t host_cpu_ns_, all_reduce_ns_;
  const std::int64_t copy_ns_;
  measure::DelayServer copy_delay_;
  std::array<std::int64_t, 2> ends_{};
  std::int64_t last_end_ = 0;
  Arrivals arrivals_;
  std::size_t steps_ = 0;
  std::vector<StepRecord> queued_;  // not yet collected, from next_ on
  std::size_t next_ = 0;
};

}  // namespace

AcceleratorKind emulated_kind() {
  return {
      .name = "emulated",
      .help =
          "takes real batches at a published or given rate, no GPU (every output says EMULATED); "
          "emulation not yet compared with a GPU",
      .make = [](std::string_view argument, const StepSpec& spec,
                 Group& group) -> std::unique_ptr<Accelerator> {
        return std::make_unique<Emulated>(emulated_device(argument, spec), spec, group);
      },
      .count = [] { return std::numeric_limits<int>::max(); },
      .check = [](std::string_view argument,
                  const StepSpec& spec) { check_host_cpu(emulated_device(argument, spec), spec); },
      .delays = {measure::kPlaces.begin(), measure::kPlaces.end()}};
}

}  // namespace feedrate::device
