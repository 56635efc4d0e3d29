#pragma once
#include <ATen/Functions.h>

#include <vector>

namespace feedrate::train {

// Dynamic loss scaling for fp16, as torch.amp.GradScaler does it: gradients of a scaled loss stay
// clear of fp16's underflow; a step with an overflow is skipped and halves the scale, 2000 without
// one double it. Everything stays on the device: no step waits for it.
class LossScale {
 public:
  static constexpr float kUsual = 65536;

  explicit LossScale(c10::Device device, float scale = kUsual)
      : scale_(at::full({}, scale, at::TensorOptions(device).dtype(at::kFloat))),
        growth_tracker_(at::zeros({}, at::TensorOptions(device).dtype(at::kInt))),
        found_inf_(at::zeros({}, at::TensorOptions(device).dtype(at::kFloat))) {}

  at::Tensor scaled(const at::Tensor& loss) const { return loss * scale_; }

  // Divides the gradients by the scale and moves the scale. Returns one float on the device: not
  // zero if a gradient was infinite or NaN, and the step must not be made.
  at::Tensor unscale(std::vector<at::Tensor> gradients) {
    const at::Tensor inverse = scale_.to(at::kDouble).reciprocal().to(at::kFloat);
    found_inf_.zero_();
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_inf_, inverse);
    at::_amp_update_scale_(scale_, growth_tracker_, found_inf_, /*growth=*/2.0, /*backoff=*/0.5,
                           /*interval=*/2000);
    return found_inf_;
  }

 private:
  at::Tensor scale_, growth_tracker_, found_inf_;
};

}  // namespace feedrate::train
