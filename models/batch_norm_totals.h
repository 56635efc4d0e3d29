#pragma once
#include <cmath>
#include <cstdint>

#include "models/batch_norm_kernels.h"
#include "models/blocks.h"

// What becomes of the sums that the blocks of batch_norm_blocks.h leave:
// partial[blocks][2][channels].
namespace feedrate::models::batch_norm {

// Two totals per channel, in doubles. A block takes few channels, so that many threads share the
// partial sums of each: what it costs is waiting for one load after the other.
struct Totals {
  static constexpr int kAcross = 8, kDown = 64, kThreads = kAcross * kDown, kFolded = 8;
  double of_thread[kDown][2][kAcross];

  C10_HOST_DEVICE static int channel(Place place) {
    return place.block_x * kAcross + place.thread % kAcross;
  }
  C10_HOST_DEVICE void add(Place place, const float* partial, int blocks, int channels) {
    const int c = channel(place), down = place.thread / kAcross;
    double first = 0, second = 0;
    if (c < channels) {
      for (int block = down; block < blocks; block += kDown) {
        first += partial[static_cast<std::int64_t>(block) * 2 * channels + c];
        second += partial[(static_cast<std::int64_t>(block) * 2 + 1) * channels + c];
      }
    }
    of_thread[down][0][place.thread % kAcross] = first;
    of_thread[down][1][place.thread % kAcross] = second;
  }
  // Between add() and total(): eight sums become one, by some of the threads.
  C10_HOST_DEVICE void fold(Place place) {
    if (place.thread >= 2 * kAcross * kDown / kFolded) return;
    const int lane = place.thread % kAcross, which = place.thread / kAcross % 2,
              first = place.thread / kAcross / 2 * kFolded;
    double sum = 0;
    for (int i = 0; i < kFolded; ++i) sum += of_thread[first + i][which][lane];
    of_thread[first][which][lane] = sum;
  }
  C10_HOST_DEVICE double total(int which, int lane) const {
    double sum = 0;
    for (int down = 0; down < kDown; down += kFolded) sum += of_thread[down][which][lane];
    return sum;
  }
};
inline Grid grid_of_totals(int channels) {
  return {(channels + Totals::kAcross - 1) / Totals::kAcross, 1};
}

// (4, C): see Normalised; moves the running statistics.
template <typename T>
struct FinishStatistics {
  static constexpr int kThreads = Totals::kThreads, kPhases = 3, kResident = 1024;
  using Shared = Totals;
  const float* partial = nullptr;
  const T* first_row = nullptr;
  int blocks = 0, channels = 0;
  double rows = 0, momentum = 0, epsilon = 0;
  const float *weight = nullptr, *bias = nullptr;
  float *by = nullptr, *running_mean = nullptr, *running_var = nullptr;

  template <int kPhase>
  C10_HOST_DEVICE void phase(Place place, Shared& shared) const {
    if constexpr (kPhase == 0) return shared.add(place, partial, blocks, channels);
    if constexpr (kPhase == 1) return shared.fold(place);
    const int c = Totals::channel(place);
    if (place.thread >= Totals::kAcross || c >= channels) return;
    const double offset = shared.total(0, place.thread) / rows;
    const double middle = static_cast<double>(static_cast<float>(first_row[c])) + offset;
    const double spread = shared.total(1, place.thread) / rows - offset * offset;
    const double variance = spread < 0 ? 0 : spread;
    const auto mean = static_cast<float>(middle),
               invstd = static_cast<float>(1 / std::sqrt(variance + epsilon)),
               scale = weight[c] * invstd;
    by[c] = mean, by[channels + c] = invstd;
    by[2 * channels + c] = scale, by[3 * channels + c] = bias[c] - mean * scale;
    running_mean[c] = static_cast<float>((1 - momentum) * static_cast<double>(running_mean[c]) +
                                         momentum * middle);
    running_var[c] = static_cast<float>((1 - momentum) * static_cast<double>(running_var[c]) +
                                        momentum * variance * rows / (rows - 1));
  }
};

// (4, C): see BatchNormKernels::reduce.
struct FinishGradients {
  static constexpr int kThreads = Totals::kThreads, kPhases = 3, kResident = 1024;
  using Shared = Totals;
  const float *partial = nullptr, *by = nullptr;
  int blocks = 0, channels = 0;
  float rows = 0;  // of x
  float* sums = nullptr;

  template <int kPhase>
  C10_HOST_DEVICE void phase(Place place, Shared& shared) const {
    if constexpr (kPhase == 0) return shared.add(place, partial, blocks, channels);
    if constexpr (kPhase == 1) return shared.fold(place);
    const int c = Totals::channel(place);
    if (place.thread >= Totals::kAcross || c >= channels) return;
    const float invstd = by[channels + c], scale = by[2 * channels + c];
    const auto of_bias = static_cast<float>(shared.total(0, place.thread)),
               of_weight =
                   static_cast<float>(shared.total(1, place.thread) * static_cast<double>(invstd));
    sums[c] = of_bias, sums[channels + c] = of_weight;
    sums[2 * channels + c] = -scale * of_bias / rows;
    sums[3 * channels + c] = -scale * invstd * of_weight / rows;
  }
};

}  // namespace feedrate::models::batch_norm
