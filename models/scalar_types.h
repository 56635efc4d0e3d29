#pragma once
#include <c10/core/ScalarType.h>

namespace feedrate::models {

// body(T{}) with the C++ type of `type`, which is kFloat, kHalf or kBFloat16: what kernels of
// blocks.h are written for.
template <typename Body>
auto with_scalar_type(at::ScalarType type, const Body& body) {
  if (type == at::kHalf) return body(at::Half{});
  if (type == at::kBFloat16) return body(at::BFloat16{});
  return body(float{});
}

}  // namespace feedrate::models
