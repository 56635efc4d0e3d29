#pragma once
#include <c10/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAStream.h>

#include "device/gpu_streams.h"

namespace feedrate::train {

// CUDA's streams and events, for the schedules of the device room.
struct CudaStreams {
  using Stream = c10::cuda::CUDAStream;
  using Event = c10::cuda::CUDAEvent;

  static Event spinning_event() { return Event(cudaEventDefault); }
  static Event sleeping_event() { return Event(cudaEventBlockingSync); }
  static Event untimed_event() { return Event(cudaEventDisableTiming); }

  // An error here has been reported by what it came from.
  static void settle(const Stream& stream) noexcept {
    if (cudaStreamSynchronize(stream.stream()) != cudaSuccess) cudaGetLastError();
  }
};
static_assert(device::GpuStreams<CudaStreams>);

}  // namespace feedrate::train
