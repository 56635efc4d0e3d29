#pragma once
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <span>
#include <string>
#include <string_view>

namespace feedrate::train {

// What the convolutions and the classifier compute in; weights and optimiser are fp32 in all of
// them.
enum class Precision {
  fp32,
  tf32,  // fp32 tensors, multiplied with 10 bits of mantissa (CUDA)
  fp16,  // autocast, with loss scaling
  bf16,  // autocast
  fp64,  // everything, the weights too: what the others are compared with; no run offers it
};

// The precision of that name; an empty one is fp32. Errors: UsageError naming what `device` offers.
Precision precision_from(std::string_view name, std::span<const Precision> offered,
                         std::string_view device);

// Whether the CPU computes without AMX because it could not work (avoid_amx_without_tiles).
bool does_without_amx();

// The element type of normalised batches: what the first convolution would cast them to.
at::ScalarType input_type(Precision precision);

// Runs the operations of its scope, on the calling thread, in `precision`'s 16-bit type where
// autocast's lists say so. Does nothing for the others. The cast cache stays off: ResNet uses
// each weight once a forward pass, and the cache does not see weights that change in place.
class AutocastScope {
 public:
  AutocastScope(c10::DeviceType device, Precision precision);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  const c10::DeviceType device_;
  const bool active_;
  bool enabled_before_ = false;
  bool cache_before_ = false;
  at::ScalarType dtype_before_ = at::kFloat;
};

}  // namespace feedrate::train
