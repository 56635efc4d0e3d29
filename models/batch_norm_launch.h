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

  static void statistics(Normalised& of, const BatchNormState& state) {
    of.by = at::empty({4, of.x.size(1)}, state.weight.options());
    with_scalar_type(of.x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      SumDeviations<T> sum;
      sum.tiles = tiles_for_kernel(sum, of.x), sum.x = packs<T>(of.x);
      const Tiles& tiles = sum.tiles;
      const at::Tensor partial = partial_sums(tiles, 1, of.by);
      sum.partial = partial.template mutable_data_ptr<float>();
      Launcher::launch(tiles.grid, sum);
      FinishStatistics<T> finish;
      finish.partial = sum.partial, finish.first_row = of.x.template const_data_ptr<T>();
      finish.blocks = tiles.grid.y, finish.channels = tiles.channels;
      finish.rows = static_cast<double>(tiles.rows), finish.momentum = kBatchNormMomentum,
      finish.epsilon = kBatchNormEpsilon;
      finish.weight = state.weight.template const_data_ptr<float>(),
      finish.bias = state.bias.template const_data_ptr<float>();
      finish.by = of.by.template mutable_data_ptr<float>();
      finish.running_mean = state.running_mean.template mutable_data_ptr<float>();
      finish.running_var = state.running_var.template mutable_data_ptr<float>();
      Launcher::launch(grid_of_totals(tiles.channels), finish);
    });
  }

  static at::Tensor normalise(BatchNormSaved& saved, const at::Tensor& shortcut) {
    at::Tensor y = at::empty_like(saved.main.x);
    const at::Tensor& added = saved.shortcut.x.defined() ? saved.shortcut.x : shortcut;
    if (added.defined()) saved.passed = byte_for_each_pack(saved.main.x);
    with_kind(saved, [&](auto zero, auto then) {
      using T = decltype(zero);
      Normalise<T, decltype(then)::value> kernel;
      kernel.tiles = tiles_for_kernel(kernel, saved.main.x),
      kernel.channels = channels_of(saved.main);
      if (kernel.kJoin) kernel.of_shortcut = channels_of(saved.shortcut);
      kernel.x = packs<T>(saved.main.x), kernel.shortcut = packs<T>(added),
      kernel.y = mutable_packs<T>(y);
      if (kernel.kAdd) kernel.passed = saved.passed.mutable_data_ptr<std::uint8_t>();
      Launcher::launch(kernel.tiles.grid, kernel);
    });
    return y;
  }

  static at::Tensor normalise_and_pool(BatchNormSaved& saved) {
    const Windows windows = windows_of(saved.main.x);
    at::Tensor y =
        at::empty({saved.main.x.size(0), saved.main.x.size(1), windows.down, windows.across},
                  saved.main.x.options().memory_format(at::MemoryFormat::ChannelsLast));
    saved.chosen = at::empty_like(y);
    saved.where = at::empty_like(y, y.options().dtype(at::kByte));
    with_scalar_type(saved.main.x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      NormaliseAndPool<T> kernel;
      kernel.tiles = tiles_for_kernel(kernel, y), kernel.channels = channels_of(saved.main);
      kernel.windows = windows, kernel.x = packs<T>(saved.main.x);
      kernel.y = mutable_packs<T>(y), kernel.chosen = mutable_packs<T>(saved.chosen);
      kernel.where =
          reinterpret_cast<Places<Pack<T>::kWidth>*>(saved.where.mutable_data_ptr<std::uint8_t>());
      Launcher::launch(kernel.tiles.grid, kernel);
    });
    return y;
  }

  static at::Tensor reduce(const BatchNormSaved& saved, const at::Tensor& gradient,
                           const at::Tensor& other, at::Tensor& through) {
    at::Tensor sums = at::empty({saved.shortcut.x.defined() ? 2 : 1, 4, saved.main.x.size(1)},
                                saved.main.by.options());
    if (saved.passed.defined()) through = at::empty_like(saved.main.x);
    with_kind(saved, [&](auto zero, auto then) {
      using T = decltype(zero);
      constexpr Then kThen = decltype(then)::value;
      if constexpr (adds(kThen)) {
        if (other.defined())
          return sum_gradients<T, kThen, true>(saved, gradient, other, through, sums);
      }
      sum_gradients<T, kThen, false>(saved, gradient, other, through, sums);
    });
    return sums;
  }

  static InputGradients input_gradients(const BatchNormSaved& saved, const at::Tensor& gradient,
                                        const at::Tensor& sums) {
    if (saved.where.defined()) return {pooled_input_gradient(saved, gradient, sums), {}};
    InputGradients out{at::empty_like(saved.main.x), {}};
    if (saved.shortcut.x.defined()) out.shortcut = at::empty_like(saved.shortcut.x);
    with_kind(saved, [&](auto zero, auto then) {
      using T = decltype(zero);
      // Behind a ReLU with an addition, the gradient has been cut already.
      constexpr Then kThen = decltype(then)::value;
      InputGradient<T, kThen == Then::add_relu ? Then::nothing : kThen> kernel;
      kernel.tiles = tiles_for_kernel(kernel, saved.main.x);
      kernel.channels = channels_of(saved.main);
      if (kernel.kJoin) kernel.of_shortcut = channels_of(saved.shortcut);
      kernel.x = packs<T>(saved.main.x), kernel.shortcut = packs<T>(saved.shortcut.x),
      kernel.gradient = packs<T>(gradient), kernel.sums = sums.const_data_ptr<float>();
      kernel.out = mutable_packs<T>(out.main),
      kernel.out_of_shortcut = mutable_packs<T>(out.shortcut);
      Launcher::launch(kernel.tiles.grid, kernel);
    });
    return out;
  }

 private:
  // The type of x, and what follows the normalisation as a constant.
  template <typename Body>
  static void with_kind(const BatchNormSaved& saved, const Body& body) {
    with_scalar_type(saved.main.x.scalar_type(), [&](auto zero) {
      if (saved.shortcut.x.defined()) {
        body(zero, std::integral_constant<Then, Then::join_relu>{});
      } else if (saved.passed.defined()) {
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
  static at::Tensor partial_sums(const Tiles& tiles, int inputs, const at::Tensor& like) {
    return at::empty({inputs, tiles.grid.y, 2, tiles.channels}, like.options());
  }
  static Channels channels_of(const Normalised& of) {
    const float* const by = of.by.const_data_ptr<float>();
    const std::int64_t count = of.by.size(1);
    Channels channels;
    channels.mean = by, channels.scale = by + 2 * count, channels.shift = by + 3 * count;
    return channels;
  }

  static at::Tensor pooled_input_gradient(const BatchNormSaved& saved, const at::Tensor& gradient,
                                          const at::Tensor& sums) {
    at::Tensor out = at::empty_like(saved.main.x);
    with_scalar_type(saved.main.x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      PooledInputGradient<T> kernel;
      kernel.tiles = tiles_for_kernel(kernel, saved.chosen),
      kernel.channels = channels_of(saved.main);
      kernel.windows = windows_of(saved.main.x), kernel.x = packs<T>(saved.main.x);
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
    const at::Tensor& x = saved.chosen.defined() ? saved.chosen : saved.main.x;
    kernel.tiles = tiles_for_kernel(kernel, x), kernel.channels = channels_of(saved.main);
    kernel.x = packs<T>(x), kernel.gradient = packs<T>(gradient), kernel.other = packs<T>(other),
    kernel.through = mutable_packs<T>(through);
    if (kernel.kAdd) kernel.passed = saved.passed.const_data_ptr<std::uint8_t>();
    if (kernel.kJoin) {
      kernel.shortcut = packs<T>(saved.shortcut.x);
      kernel.of_shortcut = channels_of(saved.shortcut);
    }
    const at::Tensor partial = partial_sums(kernel.tiles, kernel.kInputs, saved.main.by);
    kernel.partial = partial.mutable_data_ptr<float>();
    Launcher::launch(kernel.tiles.grid, kernel);
    for (int input = 0; input < kernel.kInputs; ++input) {
      FinishGradients finish;
      finish.partial = kernel.partial + input * kernel.sums_of_blocks();
      finish.by = (input == 0 ? saved.main : saved.shortcut).by.template const_data_ptr<float>();
      finish.blocks = kernel.tiles.grid.y, finish.channels = kernel.tiles.channels;
      finish.rows = static_cast<float>(saved.main.x.numel() / finish.channels);
      finish.sums = sums.mutable_data_ptr<float>() + input * 4 * finish.channels;
      Launcher::launch(grid_of_totals(finish.channels), finish);
    }
  }
};

template <typename Launcher>
inline constexpr BatchNormKernels kLaunched{
    Launched<Launcher>::takes,     Launched<Launcher>::statistics,
    Launched<Launcher>::normalise, Launched<Launcher>::normalise_and_pool,
    Launched<Launcher>::reduce,    Launched<Launcher>::input_gradients};

}  // namespace feedrate::models::batch_norm
