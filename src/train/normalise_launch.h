#pragma once
#include <ATen/ops/empty.h>

#include <algorithm>

#include "models/scalar_types.h"
#include "train/normalise_blocks.h"

namespace feedrate::train {

// For so much work, one piece for a thread at a time: no more blocks than run at once.
template <typename Launcher, typename Kernel>
models::Grid grid_for(const Kernel&, std::int64_t pieces) {
  const std::int64_t wanted = (pieces + Kernel::kThreads - 1) / Kernel::kThreads;
  const int most = models::blocks_at_once<Launcher, Kernel>();
  return {static_cast<int>(std::clamp<std::int64_t>(wanted, 1, most)), 1};
}

// `bytes` (any shape, contiguous, channels last in it) by `table` ([256][3]), in the table's type
// and on its device.
template <typename Launcher, typename T>
at::Tensor launch_normalise(const at::Tensor& bytes, const at::Tensor& table) {
  TORCH_CHECK(bytes.is_contiguous(), "bytes that lie apart");
  at::Tensor out = at::empty(bytes.sizes(), table.options());
  NormaliseBytes<T> kernel;
  kernel.in = bytes.const_data_ptr<std::uint8_t>(), kernel.table = table.const_data_ptr<T>();
  kernel.out = out.mutable_data_ptr<T>(), kernel.count = bytes.numel();
  kernel.grid = grid_for<Launcher>(kernel, kernel.count / 4 + 1);
  Launcher::launch(kernel.grid, kernel);
  return out;
}

// The same in blocks of pixels: `bytes` (N, H, W, 3) to (N, down, across, 16).
template <typename Launcher, typename T>
at::Tensor launch_normalise_space_to_depth(const at::Tensor& bytes, const at::Tensor& table) {
  TORCH_CHECK(bytes.is_contiguous(), "bytes that lie apart");
  const std::int64_t down = models::blocks_along(bytes.size(1)),
                     across = models::blocks_along(bytes.size(2));
  at::Tensor out =
      at::empty({bytes.size(0), down, across, models::kBlockChannels}, table.options());
  NormaliseSpaceToDepth<T> kernel;
  kernel.in = bytes.const_data_ptr<std::uint8_t>(), kernel.table = table.const_data_ptr<T>();
  kernel.out = reinterpret_cast<models::Pack<T>*>(out.mutable_data_ptr<T>());
  kernel.height = static_cast<unsigned>(bytes.size(1));
  kernel.width = static_cast<unsigned>(bytes.size(2));
  kernel.down = static_cast<unsigned>(down), kernel.across = static_cast<unsigned>(across);
  kernel.count = static_cast<unsigned>(bytes.size(0) * down * across * kernel.kPacks);
  kernel.grid = grid_for<Launcher>(kernel, kernel.count);
  Launcher::launch(kernel.grid, kernel);
  return out;
}

template <typename Launcher>
at::Tensor launch_normalise(const at::Tensor& bytes, const at::Tensor& table) {
  return models::with_scalar_type(table.scalar_type(), [&](auto zero) {
    return launch_normalise<Launcher, decltype(zero)>(bytes, table);
  });
}

template <typename Launcher>
at::Tensor launch_normalise_space_to_depth(const at::Tensor& bytes, const at::Tensor& table) {
  return models::with_scalar_type(table.scalar_type(), [&](auto zero) {
    return launch_normalise_space_to_depth<Launcher, decltype(zero)>(bytes, table);
  });
}

}  // namespace feedrate::train
