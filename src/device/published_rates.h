#pragma once
#include <span>
#include <string_view>

namespace feedrate::device {

// Host to device over 16 lanes from page-locked memory, in bytes/s, as such cards reach it.
inline constexpr double kPcie3 = 12e9, kPcie4 = 25e9, kPcie5 = 50e9;

// A published ResNet-50 training rate at 224x224, one GPU.
struct PublishedRate {
  std::string_view name;    // as typed after "emulated:"
  std::string_view device;  // "NVIDIA A100"
  std::string_view whose;   // "PyTorch's published", "MLPerf's": stands before the rate
  double imgs_per_s;
  double bus_bytes_per_s;  // host to device, as such a card reaches with pinned memory
  std::string_view source;
};
std::span<const PublishedRate> published_rates();

}  // namespace feedrate::device
