#pragma once
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <type_traits>

#include "models/batch_norm_blocks.h"
#include "models/batch_norm_kernels.h"
#include "models/batch_norm_totals.h"
#include "models/max_pool_blocks.h"
#include "models/scalar_types.h"

namespace feedrate::models::batch_norm {

// BatchNormKernels by the kernels of batch_norm_blocks.h, launched by `Launcher`: OnCuda, or OnHost
// on CPU tensors.
template <typename Launcher>
class Launched {
 public:
  // Rows must be made of whole packs, on their 16 bytes.
  static bool takes(at::ScalarType type, std::int64_t channels) {
    if (type == at::kFloat) return channels % Pack<float>::kWidth == 0;
    return (type == at::kHalf || type == at::kBFloat16) && channels % Pack<at::Half>::kWidth == 0;
  }

  static void statistics(BatchNormSaved& saved, const BatchNormState& state) {
    saved.mean = at::empty({saved.x.size(1)}, saved.weight.options());
    saved.invstd = at::empty_like(saved.mean);
    with_scalar_type(saved.x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      SumDeviations<T> sum;
      sum.tiles = tiles_for_kernel(sum, saved.x), sum.x = packs<T>(saved.x);
      const Tiles& tiles = sum.tiles;
      const at::Tensor partial = partial_sums(tiles, saved.mean);
      sum.partial = partial.template mutable_data_ptr<float>();
      Launcher::launch(tiles.grid, sum);
      FinishStatistics<T> finish;
      finish.partial = sum.partial, finish.first_row = saved.x.template const_data_ptr<T>();
      finish.blocks = tiles.grid.y, finish.channels = tiles.channels;
      finish.rows = static_cast<double>(tiles.rows), finish.momentum = kBatchNormMomentum,
      finish.epsilon = kBatchNormEpsilon;
      finish.mean = saved.mean.template mutable_data_ptr<float>(),
      finish.invstd = saved.invstd.template mutable_data_ptr<float>();
      finish.running_mean = state.running_mean.template mutable_data_ptr<float>();
      finish.running_var = state.running_var.template mutable_data_ptr<float>();
      Launcher::launch(grid_of_totals(tiles.channels), finish);
    });
  }

  static at::Tensor normalise(BatchNormSaved& saved, const at::Tensor& shortcut) {
    at::Tensor y = at::empty_like(saved.x);
    if (shortcut.defined()) saved.passed = byte_for_each_pack(saved.x);
    with_kind(saved, [&](auto zero, auto then) {
      using T = decltype(zero);
      Normalise<T, decltype(then)::value> kernel;
      kernel.tiles = tiles_for_kernel(kernel, saved.x), kernel.channels = channels_of(saved);
      kernel.x = packs<T>(saved.x), kernel.shortcut = packs<T>(shortcut),
      kernel.y = mutable_packs<T>(y);
      if (kernel.kAdd) kernel.passed = saved.passed.mutable_data_ptr<std::uint8_t>();
      Launcher::launch(kernel.tiles.grid, kernel);
    });
    return y;
  }

  static at::Tensor normalise_and_pool(BatchNormSaved& saved) {
    const Windows windows = windows_of(saved.x);
    at::Tensor y = at::empty({saved.x.size(0), saved.x.size(1), windows.down, windows.across},
                             saved.x.options().memory_format(at::MemoryFormat::ChannelsLast));
    saved.chosen = at::empty_like(y);
    saved.where = at::empty_like(y, y.options().dtype(at::kByte));
    with_scalar_type(saved.x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      NormaliseAndPool<T> kernel;
      kernel.tiles = tiles_for_kernel(kernel, y), kernel.channels = channels_of(saved);
      kernel.windows = windows, kernel.x = packs<T>(saved.x);
      kernel.y = mutable_packs<T>(y), kernel.chosen = mutable_packs<T>(saved.chosen);
      kernel.where =
          reinterpret_cast<Places<Pack<T>::kWidth>*>(saved.where.mutable_data_ptr<std::uint8_t>());
      Launcher::launch(kernel.tiles.grid, kernel);
    });
    return y;
  }

  static at::Tensor reduce(const BatchNormSaved& saved, const at::Tensor& gradient,
                           const at::Tensor& other, at::Tensor& through) {
    at::Tensor sums = at::empty({2, saved.x.size(1)}, saved.weight.options());
    if (saved.passed.defined()) through = at::empty_like(saved.x);
    with_kind(saved, [&](auto zero, auto then) {
      using T = decltype(zero);
      constexpr Then kThen = decltype(then)::value;
      if (kThen == Then::add_relu && other.defined()) {
        sum_gradients<T, Then::add_relu, true>(saved, gradient, other, through, sums);
      } else {
        sum_gradients<T, kThen, false>(saved, gradient, other, through, sums);
      }
    });
    return sums;
  }

  static at::Tensor input_gradient(const BatchNormSaved& saved, const at::Tensor& gradient,
                                   const at::Tensor& sums) {
    if (saved.where.defined()) return pooled_input_gradient(saved, gradient, sums);
    at::Tensor out = at::empty_like(saved.x);
    with_kind(saved, [&](auto zero, auto then) {
      using T = decltype(zero);
      InputGradient<T, decltype(then)::value == Then::relu> kernel;
      kernel.tiles = tiles_for_kernel(kernel, saved.x), kernel.channels = channels_of(saved);
      kernel.x = packs<T>(saved.x), kernel.gradient = packs<T>(gradient);
      kernel.sums = sums.const_data_ptr<float>(), kernel.out = mutable_packs<T>(out);
      Launcher::launch(kernel.tiles.grid, kernel);
    });
    return out;
  }

 private:
  // The type of x, and what follows the normalisation as a constant.
  template <typename Body>
  static void with_kind(const BatchNormSaved& saved, const Body& body) {
    with_scalar_type(saved.x.scalar_type(), [&](auto zero) {
      if (saved.passed.defined()) {
        body(zero, std::integral_constant<Then, Then::add_relu>{});
      } else if (saved.relu) {
        body(zero, std::integral_constant<Then, Then::relu>{});
      } else {
        body(zero, std::integral_constant<Then, Then::nothing>{});
      }
    });
  }
  static at::Tensor byte_for_each_pack(const at::Tensor& x) {
    return at::empty({static_cast<std::int64_t>(x.nbytes()) / 16},
                     x.options().dtype(at::kByte).memory_format(at::MemoryFormat::Contiguous));
  }
  template <typename T>
  static const Pack<T>* packs(const at::Tensor& t) {
    return t.defined() ? reinterpret_cast<const Pack<T>*>(t.const_data_ptr<T>()) : nullptr;
  }
  template <typename T>
  static Pack<T>* mutable_packs(const at::Tensor& t) {
    return t.defined() ? reinterpret_cast<Pack<T>*>(t.mutable_data_ptr<T>()) : nullptr;
  }
  // Over the rows of x, with as many blocks as run at once.
  template <typename Kernel>
  static Tiles tiles_for_kernel(const Kernel&, const at::Tensor& x) {
    return tiles_for(x.numel() / x.size(1), static_cast<int>(x.size(1)), Kernel::kWidth,
                     blocks_at_once<Launcher, Kernel>());
  }
  static Windows windows_of(const at::Tensor& x) {
    Windows windows;
    windows.height = static_cast<int>(x.size(2)), windows.width = static_cast<int>(x.size(3));
    windows.down = Windows::along(windows.height), windows.across = Windows::along(windows.width);
    return windows;
  }
  static at::Tensor partial_sums(const Tiles& tiles, const at::Tensor& like) {
    return at::empty({tiles.grid.y, 2, tiles.channels}, like.options());
  }
  static Channels channels_of(const BatchNormSaved& saved) {
    Channels channels;
    channels.mean = saved.mean.const_data_ptr<float>(),
    channels.invstd = saved.invstd.const_data_ptr<float>();
    channels.weight = saved.weight.const_data_ptr<float>(),
    channels.bias = saved.bias.const_data_ptr<float>();
    return channels;
  }

  static at::Tensor pooled_input_gradient(const BatchNormSaved& saved, const at::Tensor& gradient,
                                          const at::Tensor& sums) {
    at::Tensor out = at::empty_like(saved.x);
    with_scalar_type(saved.x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      PooledInputGradient<T> kernel;
      kernel.tiles = tiles_for_kernel(kernel, saved.chosen), kernel.channels = channels_of(saved);
      kernel.windows = windows_of(saved.x), kernel.x = packs<T>(saved.x);
      kernel.gradient = packs<T>(gradient), kernel.sums = sums.const_data_ptr<float>();
      kernel.where = reinterpret_cast<const Places<Pack<T>::kWidth>*>(
          saved.where.const_data_ptr<std::uint8_t>());
      kernel.out = mutable_packs<T>(out);
      Launcher::launch(kernel.tiles.grid, kernel);
    });
    return out;
  }

  template <typename T, Then kThen, bool kOther>
  static void sum_gradients(const BatchNormSaved& saved, const at::Tensor& gradient,
                            const at::Tensor& other, const at::Tensor& through,
                            const at::Tensor& sums) {
    SumGradients<T, kThen, kOther> kernel;
    // Of a pooling, only what was chosen has a gradient.
    const at::Tensor& x = saved.chosen.defined() ? saved.chosen : saved.x;
    kernel.tiles = tiles_for_kernel(kernel, x), kernel.channels = channels_of(saved);
    kernel.x = packs<T>(x), kernel.gradient = packs<T>(gradient), kernel.other = packs<T>(other),
    kernel.through = mutable_packs<T>(through);
    if (kernel.kAdd) kernel.passed = saved.passed.const_data_ptr<std::uint8_t>();
    const at::Tensor partial = partial_sums(kernel.tiles, saved.mean);
    kernel.partial = partial.mutable_data_ptr<float>();
    Launcher::launch(kernel.tiles.grid, kernel);
    FinishGradients finish;
    finish.partial = kernel.partial, finish.invstd = kernel.channels.invstd;
    finish.blocks = kernel.tiles.grid.y, finish.channels = kernel.tiles.channels,
    finish.sums = sums.mutable_data_ptr<float>();
    Launcher::launch(grid_of_totals(finish.channels), finish);
  }
};

template <typename Launcher>
inline constexpr BatchNormKernels kLaunched{
    Launched<Launcher>::takes,     Launched<Launcher>::statistics,
    Launched<Launcher>::normalise, Launched<Launcher>::normalise_and_pool,
    Launched<Launcher>::reduce,    Launched<Launcher>::input_gradient};

}  // namespace feedrate::models::batch_norm
