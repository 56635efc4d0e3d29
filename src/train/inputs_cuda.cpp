#include "train/inputs_cuda.h"

#include "train/host_batch.h"
#include "train/jpeg_decoder.h"

namespace feedrate::train {

CudaInputs::CudaInputs(const device::StepSpec& spec, at::ScalarType type,
                       c10::cuda::CUDAStream compute)
    : spec_(spec), device_(compute.device()), prepare_(spec, device_, type) {
  if (spec.feed == device::Feed::streamed) {
    const bool encoded = spec.batch.encoded_slot != 0;
    copies_.emplace(spec.batch, compute,
                    encoded ? nvjpeg_decoder(spec, compute.device_index()) : plain_copy());
  }
  if (spec.feed == device::Feed::synthetic) synthetic_.emplace(spec, type, device_);
}

void CudaInputs::keep(const pipeline::HostBatch& batch) {
  resident_ = {borrow_pixels(batch, spec_.batch).to(device_),
               copy_labels(batch, spec_.classes).to(device_)};
  parameters_[0] = prepare_.parameters(batch);
}

std::size_t CudaInputs::next(pipeline::BatchLease batch) {
  if (synthetic_) return synthetic_->next_slot();
  if (!copies_) return 0;
  check_labels(*batch, spec_.classes);
  const at::Tensor parameters = prepare_.parameters(*batch);
  const std::size_t slot = copies_->copy(std::move(batch));
  if (!parameters_[slot].defined()) {
    parameters_[slot] = parameters;
  } else {
    parameters_[slot].copy_(parameters, /*non_blocking=*/true);
  }
  return slot;
}

std::size_t CudaInputs::slots() const {
  return synthetic_ ? synthetic_->slots() : copies_ ? CopyEngine::kSlots : 1;
}

TrainBatch CudaInputs::make(std::size_t slot) const {
  if (synthetic_) return (*synthetic_)[slot];
  const DeviceBatch& there = copies_ ? (*copies_)[slot] : resident_;
  return {prepare_(there.pixels, parameters_[slot]), there.labels};
}

void CudaInputs::done_reading() {
  if (copies_) copies_->done_reading();
}
void CudaInputs::release() {
  if (copies_) copies_->release();
}
void CudaInputs::wait() {
  if (copies_) copies_->wait();
}

}  // namespace feedrate::train
