#pragma once
#include <ATen/ops/empty.h>

#include <algorithm>
#include <iterator>

#include "pipeline/gray.h"
#include "train/augment_blocks.h"
#include "train/augment_kernel.h"

namespace feedrate::train {

template <typename Launcher>
at::Tensor launch_augment(const AugmentBatch& batch) {
  const at::Tensor& pictures = batch.pictures;
  const int count = static_cast<int>(pictures.size(0)), pixels = batch.height * batch.width;
  at::Tensor out = at::empty({count, batch.height, batch.width, 3}, pictures.options());
  ResizeBytes resize;
  resize.in = pictures.const_data_ptr<std::uint8_t>();
  resize.drawn = reinterpret_cast<const Drawn*>(batch.drawn.const_data_ptr<float>());
  resize.out = out.mutable_data_ptr<std::uint8_t>();
  resize.stored_height = static_cast<int>(pictures.size(1));
  resize.stored_width = static_cast<int>(pictures.size(2));
  resize.height = batch.height, resize.width = batch.width, resize.antialias = batch.antialias;
  resize.blocks_of_picture = (pixels + ResizeBytes::kThreads - 1) / ResizeBytes::kThreads;
  Launcher::launch({resize.blocks_of_picture * count, 1}, resize);
  if (!batch.jitter) return out;
  JitterBytes jitter;
  jitter.drawn = resize.drawn, jitter.bytes = resize.out, jitter.pixels = pixels;
  std::copy(std::begin(pipeline::kGray), std::end(pipeline::kGray), jitter.of_gray);
  Launcher::launch({count, 1}, jitter);
  return out;
}

}  // namespace feedrate::train
