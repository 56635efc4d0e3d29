#include "train/stream_delay_cuda.h"

#include <c10/cuda/CUDAException.h>

namespace feedrate::train {

// A host function may call nothing of CUDA; it sleeps.
void StreamDelay::take(void* turn) {
  const Turn& taken = *static_cast<const Turn*>(turn);
  taken.sleep->sleep(taken.ns);
}

void StreamDelay::queue(const c10::cuda::CUDAStream& stream) {
  measure::burn(measure::burnt(delays_, place_));
  const std::int64_t ns = measure::slept(delays_, place_);
  if (ns == 0) return;
  Turn& turn = turns_[queued_++ % kTurns];
  turn = {&sleep_, ns};
  C10_CUDA_CHECK(cudaLaunchHostFunc(stream.stream(), &StreamDelay::take, &turn));
}

}  // namespace feedrate::train
