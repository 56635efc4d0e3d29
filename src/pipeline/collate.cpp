#include "pipeline/collate.h"

#include <cstring>

namespace feedrate::pipeline {

void collate(std::span<const std::byte> sample, codec::Dtype from, const BatchSpec& spec,
             std::byte* out) {
  if (from == spec.dtype) {
    std::memcpy(out, sample.data(), spec.sample_bytes());
  } else {
    codec::normalise(reinterpret_cast<const std::uint8_t*>(sample.data()),
                     spec.sample_elements() / 3, spec.dtype, out, spec.normalisation);
  }
}

}  // namespace feedrate::pipeline
