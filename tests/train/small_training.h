#pragma once
#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <numeric>
#include <utility>
#include <vector>

namespace feedrate::tests {

// Something that a small network learns within 200 steps.
inline constexpr int kClasses = 8, kPictures = 16, kSide = 32;

// A class is a colour under noise that is another one each time: (N, 3, H, W) in fp32, (N), on the
// CPU.
inline std::pair<at::Tensor, at::Tensor> some_batch(int step) {
  at::manual_seed(1000 + static_cast<std::uint64_t>(step));
  const at::Tensor labels = at::arange(kPictures) % kClasses;
  const at::Tensor bits = at::stack({labels % 2, labels / 2 % 2, labels / 4}, 1).to(at::kFloat);
  return {at::randn({kPictures, 3, kSide, kSide}) + 2 * bits.view({kPictures, 3, 1, 1}) - 1,
          labels};
}

// Means of ten steps each: single steps of two runs part soon, as rounding errors grow.
inline std::vector<double> tens(const std::vector<double>& values) {
  std::vector<double> means;
  for (std::size_t i = 0; i + 10 <= values.size(); i += 10) {
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(i);
    means.push_back(std::accumulate(from, from + 10, 0.0) / 10);
  }
  return means;
}

}  // namespace feedrate::tests
