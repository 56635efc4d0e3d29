#pragma once
#include <concepts>

namespace feedrate::device {

// What the schedule of copies and steps (copy_slots.h, steps_in_flight.h, event_clock.h) uses of a
// GPU: streams, whose work runs one after the other, and events in them. CUDA's are in
// train/streams_cuda.h; tests have simulated ones. Used by one thread.
template <typename Gpu>
concept GpuStreams =
    std::copy_constructible<typename Gpu::Stream> && std::movable<typename Gpu::Event> &&
    requires(typename Gpu::Event event, const typename Gpu::Event ended,
             const typename Gpu::Stream stream) {
      // Made with and without timing; a wait for it spins, or sleeps and is woken later.
      { Gpu::spinning_event() } -> std::same_as<typename Gpu::Event>;
      { Gpu::sleeping_event() } -> std::same_as<typename Gpu::Event>;
      { Gpu::untimed_event() } -> std::same_as<typename Gpu::Event>;
      event.record(stream);  // happens when what was queued on the stream before has run
      event.block(stream);   // what is queued on the stream from now on waits for the last record
      { ended.query() } -> std::same_as<bool>;  // has it happened? Of one without a record: yes
      ended.synchronize();                      // waits for it
      { ended.elapsed_time(event) } -> std::convertible_to<double>;  // ms; both have happened
      stream.synchronize();                                          // waits for all of it
      // Waits as well; what fails on the device, fails no further.
      { Gpu::settle(stream) } noexcept;
    };

}  // namespace feedrate::device
