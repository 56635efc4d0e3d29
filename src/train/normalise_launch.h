#pragma once
#include <ATen/ops/empty.h>

#include <algorithm>

#include "train/normalise_blocks.h"

namespace feedrate::train {

// `bytes` (any shape, contiguous, channels last in it) by `table` ([256][3]), in the table's type
// and on its device.
template <typename Launcher, typename T>
at::Tensor launch_normalise(const at::Tensor& bytes, const at::Tensor& table) {
  at::Tensor out = at::empty(bytes.sizes(), table.options());
  NormaliseBytes<T> kernel;
  kernel.in = bytes.const_data_ptr<std::uint8_t>(), kernel.table = table.const_data_ptr<T>();
  kernel.out = out.mutable_data_ptr<T>(), kernel.count = bytes.numel();
  constexpr std::int64_t kBytesOfABlock = 4 * NormaliseBytes<T>::kThreads;
  const std::int64_t wanted = (kernel.count + kBytesOfABlock - 1) / kBytesOfABlock;
  kernel.grid = {static_cast<int>(std::clamp<std::int64_t>(wanted, 1, 8 * Launcher::processors())),
                 1};
  Launcher::launch(kernel.grid, kernel);
  return out;
}

template <typename Launcher>
at::Tensor launch_normalise(const at::Tensor& bytes, const at::Tensor& table) {
  if (table.scalar_type() == at::kHalf) return launch_normalise<Launcher, at::Half>(bytes, table);
  if (table.scalar_type() == at::kBFloat16)
    return launch_normalise<Launcher, at::BFloat16>(bytes, table);
  return launch_normalise<Launcher, float>(bytes, table);
}

}  // namespace feedrate::train
