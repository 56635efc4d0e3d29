#pragma once
#include <array>
#include <optional>
#include <utility>

#include "device/accelerator.h"
#include "train/copy_engine_cuda.h"
#include "train/input_maker.h"
#include "train/synthetic.h"

namespace feedrate::train {

// Where the inputs of a GPU's steps come from. Each lies in one of a few slots, memory that stays
// where it is.
class CudaInputs {
 public:
  // `compute`: the stream of the steps; the current one in all calls.
  CudaInputs(const device::StepSpec& spec, at::ScalarType type, c10::cuda::CUDAStream compute);

  void keep(const pipeline::HostBatch& batch);  // for Feed::resident

  // Brings the next input into the slot that it returns, before `compute` goes on. A streamed
  // batch's copy is queued; its slab is given back once that has ended.
  std::size_t next(pipeline::BatchLease batch);
  std::size_t next_synthetic();  // see Accelerator::submit_synthetic()
  std::size_t slots() const;

  // Queues what makes the step's input out of a slot. Nothing but that slot's memory is read.
  TrainBatch make(std::size_t slot) const;
  // The step that was queued last reads this slot to its end.
  void done_reading(std::size_t slot);

  void release();  // gives back slabs whose copy has ended
  void wait();     // waits for the copies, and gives back the slabs
  device::Arrivals arrivals() const {
    return copies_ ? copies_->schedule().arrivals() : device::Arrivals{};
  }
  void watch_copies(CopyEngine::Slots::Seen seen) {
    if (copies_) copies_->schedule().watch(std::move(seen));
  }

 private:
  // Of the feed; those of the synthetic batches beside it follow.
  std::size_t own_slots() const;

  const device::StepSpec spec_;
  const c10::Device device_;
  const InputMaker prepare_;
  std::optional<CopyEngine> copies_;
  std::optional<SyntheticRing> synthetic_;
  DeviceBatch resident_;
  std::array<at::Tensor, CopyEngine::kSlots> parameters_;  // InputMaker's, of each slot
};

}  // namespace feedrate::train
