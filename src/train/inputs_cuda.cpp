#include "train/inputs_cuda.h"

#include <memory>

#include "train/host_batch.h"
#include "train/jpeg_decoder.h"
#include "train/stream_delay_cuda.h"

namespace feedrate::train {
namespace {

PutPixels delayed(PutPixels put, const measure::Delays* delays) {
  if (delays == nullptr) return put;
  const auto delay = std::make_shared<StreamDelay>(delays, measure::Place::copy);
  return
      [put = std::move(put), delay](std::size_t slot, const pipeline::HostBatch& batch,
                                    const at::Tensor& pixels, const c10::cuda::CUDAStream& stream) {
        const device::DecodedBy decoded = put(slot, batch, pixels, stream);
        delay->queue(stream);
        return decoded;
      };
}

}  // namespace

CudaInputs::CudaInputs(const device::StepSpec& spec, at::ScalarType type,
                       c10::cuda::CUDAStream compute)
    : spec_(spec), device_(compute.device()), prepare_(spec, device_, type) {
  if (spec.feed == device::Feed::streamed) {
    const bool encoded = spec.batch.encoded_slot != 0;
    copies_.emplace(spec.batch, compute,
                    delayed(encoded ? nvjpeg_decoder(spec, compute.device_index()) : plain_copy(),
                            spec.delays));
  }
  if (spec.feed == device::Feed::synthetic || spec.synthetic_beside)
    synthetic_.emplace(spec, type, device_);
}

void CudaInputs::keep(const pipeline::HostBatch& batch) {
  resident_ = {borrow_pixels(batch, spec_.batch).to(device_),
               copy_labels(batch, spec_.classes).to(device_)};
  parameters_[0] = prepare_.parameters(batch);
}

std::size_t CudaInputs::next(pipeline::BatchLease batch) {
  if (spec_.feed == device::Feed::synthetic) return next_synthetic();
  if (!copies_) return 0;
  check_labels(*batch, spec_.classes);
  const at::Tensor parameters = prepare_.parameters(*batch);
  const std::size_t slot = copies_->schedule().copy(std::move(batch));
  if (!parameters_[slot].defined()) {
    parameters_[slot] = parameters;
  } else {
    parameters_[slot].copy_(parameters, /*non_blocking=*/true);
  }
  return slot;
}

std::size_t CudaInputs::next_synthetic() { return own_slots() + synthetic_->next_slot(); }

std::size_t CudaInputs::own_slots() const {
  if (spec_.feed == device::Feed::synthetic) return 0;
  return copies_ ? CopyEngine::kSlots : 1;
}
std::size_t CudaInputs::slots() const {
  return own_slots() + (synthetic_ ? synthetic_->slots() : 0);
}

TrainBatch CudaInputs::make(std::size_t slot) const {
  if (slot >= own_slots()) return (*synthetic_)[slot - own_slots()];
  const DeviceBatch& there = copies_ ? (*copies_)[slot] : resident_;
  return {prepare_(there.pixels, parameters_[slot]), there.labels};
}

void CudaInputs::done_reading(std::size_t slot) {
  if (copies_ && slot < own_slots()) copies_->schedule().done_reading();
}
void CudaInputs::release() {
  if (copies_) copies_->schedule().release();
}
void CudaInputs::wait() {
  if (copies_) copies_->schedule().wait();
}

}  // namespace feedrate::train
