#include <ATen/Functions.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "models/batch_norm_kernels.h"
#include "models/batch_norm_rows_cpu.h"

namespace feedrate::models {
namespace {

using at::Tensor;
using batch_norm::Row;
using batch_norm::Rows;

// Rows whose sums are kept in floats before they go into doubles: few enough to lose nothing that
// counts.
constexpr Row kRowsInFloat = 128;

Row row_count(const Tensor& x) { return x.numel() / x.size(1); }
int channel_count(const Tensor& x) { return static_cast<int>(x.size(1)); }

template <typename T>
const T* data(const Tensor& t) {
  return t.defined() ? t.const_data_ptr<T>() : nullptr;
}
template <typename T>
T* advanced(T* p, Row rows, int channels) {
  return p ? p + rows * channels : nullptr;
}

// The same call for rows [first, first + count).
template <typename T>
Rows<T> part(const Rows<T>& all, Row first, Row count) {
  Rows<T> rows = all;
  rows.count = count;
  rows.x = advanced(all.x, first, all.channels);
  rows.shortcut = advanced(all.shortcut, first, all.channels);
  rows.gradient = advanced(all.gradient, first, all.channels);
  rows.other = advanced(all.other, first, all.channels);
  rows.out = advanced(all.out, first, all.channels);
  rows.passed = advanced(all.passed, first, all.channels);
  return rows;
}

// body(first, count, p) for each thread's part p of the rows.
template <typename Body>
void over_rows(Row count, const Body& body) {
  const Row parts = std::min<Row>(at::get_num_threads(), count);
  at::parallel_for(0, parts, 1, [&](Row begin, Row end) {
    for (Row p = begin; p < end; ++p) {
      const Row first = count * p / parts;
      body(first, count * (p + 1) / parts - first, p);
    }
  });
}

// Two sums per channel over all rows: `add` adds those of some rows to rows.sum and rows.product.
template <typename T, typename Add>
std::vector<double> sums_over_rows(const Rows<T>& all, const Add& add) {
  const auto channels = static_cast<std::size_t>(all.channels);
  std::vector<std::vector<double>> of_part(static_cast<std::size_t>(at::get_num_threads()));
  over_rows(all.count, [&](Row first, Row count, Row p) {
    std::vector<double> total(2 * channels);
    std::vector<float> some(2 * channels);
    for (Row done = 0; done < count; done += kRowsInFloat) {
      std::fill(some.begin(), some.end(), 0.0f);
      Rows<T> rows = part(all, first + done, std::min(kRowsInFloat, count - done));
      rows.sum = some.data();
      rows.product = some.data() + channels;
      add(rows);
      for (std::size_t i = 0; i < some.size(); ++i) total[i] += some[i];
    }
    of_part[static_cast<std::size_t>(p)] = std::move(total);
  });
  std::vector<double> sums(2 * channels);
  for (const auto& total : of_part) {
    for (std::size_t i = 0; i < total.size(); ++i) sums[i] += total[i];
  }
  return sums;
}

// `body` with the element type of x.
template <typename Body>
void with_type(const Tensor& x, const Body& body) {
  if (x.scalar_type() == at::kFloat) return body(float{});
  body(c10::BFloat16{});
}

// What the loops need of each channel, made of what was saved.
struct SavedChannels {
  explicit SavedChannels(const BatchNormSaved& saved)
      : mean(data<float>(saved.mean)),
        scale(static_cast<std::size_t>(saved.mean.numel())),
        shift(scale.size()) {
    const float *weight = data<float>(saved.weight), *bias = data<float>(saved.bias),
                *invstd = data<float>(saved.invstd);
    for (std::size_t c = 0; c < scale.size(); ++c) {
      scale[c] = weight[c] * invstd[c];
      shift[c] = bias[c] - mean[c] * scale[c];
    }
  }
  template <typename T>
  Rows<T> rows(const Tensor& x) const {
    return {.count = row_count(x),
            .channels = channel_count(x),
            .x = data<T>(x),
            .mean = mean,
            .scale = scale.data(),
            .shift = shift.data()};
  }
  const float* mean;
  std::vector<float> scale, shift;
};

bool takes(at::ScalarType type, std::int64_t) {
  return type == at::kFloat || type == at::kBFloat16;
}

void move(float& running, double to) {
  running = static_cast<float>((1 - kBatchNormMomentum) * running + kBatchNormMomentum * to);
}

// `sums`: of the deviations from `from`, and of their squares, over n rows.
void finish_statistics(std::span<const float> from, std::span<const double> sums, double n,
                       BatchNormSaved& saved, const BatchNormState& state) {
  const auto channels = static_cast<std::int64_t>(from.size());
  saved.mean = at::empty({channels}, at::kFloat);
  saved.invstd = at::empty({channels}, at::kFloat);
  float *means = saved.mean.mutable_data_ptr<float>(),
        *invstds = saved.invstd.mutable_data_ptr<float>();
  float *running_mean = state.running_mean.mutable_data_ptr<float>(),
        *running_var = state.running_var.mutable_data_ptr<float>();
  for (std::size_t c = 0; c < from.size(); ++c) {
    const double offset = sums[c] / n;
    const double mean = from[c] + offset;
    const double variance = std::max(0.0, sums[from.size() + c] / n - offset * offset);
    means[c] = static_cast<float>(mean);
    invstds[c] = static_cast<float>(1 / std::sqrt(variance + kBatchNormEpsilon));
    move(running_mean[c], mean);
    move(running_var[c], variance * n / (n - 1));
  }
}

// The deviations are from the first row: with sums of the values themselves, a mean that is large
// beside the deviation would leave nothing of the variance.
void statistics(BatchNormSaved& saved, const BatchNormState& state) {
  const Row count = row_count(saved.x);
  const int channels = channel_count(saved.x);
  std::vector<float> from(static_cast<std::size_t>(channels));
  std::vector<double> sums;
  with_type(saved.x, [&]<typename T>(T) {
    const Rows<T> all{
        .count = count, .channels = channels, .x = data<T>(saved.x), .mean = from.data()};
    std::transform(all.x, all.x + channels, from.begin(),
                   [](T v) { return batch_norm::to_float(v); });
    sums = sums_over_rows(all, [](const Rows<T>& rows) { add_deviations(rows); });
  });
  finish_statistics(from, sums, static_cast<double>(count), saved, state);
}

Tensor normalise(BatchNormSaved& saved, const Tensor& shortcut) {
  const SavedChannels channels(saved);
  const Tensor y = at::empty_like(saved.x);
  if (shortcut.defined())
    saved.passed = at::empty_like(saved.x, saved.x.options().dtype(at::kByte));
  with_type(saved.x, [&]<typename T>(T) {
    Rows<T> all = channels.rows<T>(saved.x);
    all.shortcut = data<T>(shortcut);
    all.out = y.mutable_data_ptr<T>();
    all.passed = saved.passed.defined() ? saved.passed.mutable_data_ptr<std::uint8_t>() : nullptr;
    over_rows(all.count, [&](Row first, Row count, Row) {
      write_normalised(part(all, first, count), saved.relu);
    });
  });
  return y;
}

Tensor reduce(const BatchNormSaved& saved, const Tensor& gradient, const Tensor& other,
              Tensor& through) {
  const SavedChannels channels(saved);
  if (saved.passed.defined()) through = at::empty_like(saved.x);
  std::vector<double> sums;
  with_type(saved.x, [&]<typename T>(T) {
    Rows<T> all = channels.rows<T>(saved.x);
    all.gradient = data<T>(gradient);
    all.other = data<T>(other);
    if (through.defined()) {
      all.out = through.mutable_data_ptr<T>();
      all.passed = const_cast<std::uint8_t*>(data<std::uint8_t>(saved.passed));
    }
    sums = sums_over_rows(all, [&](const Rows<T>& rows) { add_gradients(rows, saved.relu); });
  });
  const std::int64_t count = saved.x.size(1);
  Tensor both = at::empty({2, count}, at::kFloat);
  float* out = both.mutable_data_ptr<float>();
  const float* invstd = data<float>(saved.invstd);
  for (std::int64_t c = 0; c < count; ++c) {
    out[c] = static_cast<float>(sums[c]);
    out[count + c] = static_cast<float>(sums[count + c] * invstd[c]);
  }
  return both;
}

Tensor input_gradient(const BatchNormSaved& saved, const Tensor& gradient, const Tensor& sums) {
  const SavedChannels channels(saved);
  const auto count = static_cast<std::size_t>(saved.x.size(1));
  const auto n = static_cast<float>(row_count(saved.x));
  std::vector<float> slope(count), constant(count);
  const float *invstd = data<float>(saved.invstd), *of_bias = data<float>(sums),
              *of_weight = of_bias + count;
  for (std::size_t c = 0; c < count; ++c) {
    slope[c] = -channels.scale[c] * invstd[c] * of_weight[c] / n;
    constant[c] = -channels.scale[c] * of_bias[c] / n;
  }
  const Tensor out = at::empty_like(saved.x);
  with_type(saved.x, [&]<typename T>(T) {
    Rows<T> all = channels.rows<T>(saved.x);
    all.gradient = data<T>(gradient);
    all.slope = slope.data();
    all.constant = constant.data();
    all.out = out.mutable_data_ptr<T>();
    const bool cut = saved.relu && !saved.passed.defined();
    over_rows(all.count, [&](Row first, Row rows, Row) {
      write_input_gradients(part(all, first, rows), cut);
    });
  });
  return out;
}

}  // namespace

const BatchNormKernels kCpuBatchNorm{takes, statistics, normalise, reduce, input_gradient};

}  // namespace feedrate::models
