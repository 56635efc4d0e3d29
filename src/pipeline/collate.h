#pragma once
#include <cstddef>
#include <span>

#include "codec/tensor.h"
#include "pipeline/batch.h"

namespace feedrate::pipeline {

// Copies a finished sample into its slot; uint8 samples are normalised where the batch asks for it.
void collate(std::span<const std::byte> sample, codec::Dtype from, const BatchSpec& spec,
             std::byte* out);

}  // namespace feedrate::pipeline
