#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "codec/image.h"

namespace feedrate::codec {

// Element types of stored samples and of batches.
enum class Dtype : std::uint8_t { uint8 = 0, fp16 = 1, fp32 = 2 };
std::size_t size_of(Dtype dtype);         // bytes per element
std::string_view name_of(Dtype dtype);    // "uint8", "fp16", "fp32"
Dtype dtype_from(std::string_view name);  // throws UsageError

// ImageNet's per-channel statistics (RGB, of values in 0..1), as torchvision's references use them:
// normalised = (pixel / 255 - mean) / std.
inline constexpr float kMean[3] = {0.485f, 0.456f, 0.406f};
inline constexpr float kStd[3] = {0.229f, 0.224f, 0.225f};

// What pixels are normalised by: ImageNet's statistics, or a mean of 0 and a deviation of 1, which
// leave pixel / 255.
enum class Normalisation : std::uint8_t { imagenet, unit };
struct ChannelStatistics {
  float mean[3], std[3];
};
const ChannelStatistics& statistics_of(Normalisation normalisation);

// Normalises `count` interleaved RGB pixels (3 * count bytes) into fp16 or fp32.
void normalise(const std::uint8_t* pixels, std::size_t count, Dtype to, std::byte* out,
               Normalisation by = Normalisation::imagenet);

// A precached sample: one file, a 32-byte header, then height * width * 3 elements, interleaved
// (HWC, so that a batch is NHWC, torch's channels_last). uint8 is as decoded, fp16 and fp32 are
// normalised. Header, little endian: "FRTENSR1", u32 dtype, u32 height, u32 width, u32 channels
// (3), u64 payload bytes. Own header and raw bytes: nothing in it can be executed (no pickle).
inline constexpr std::size_t kTensorHeaderBytes = 32;
struct TensorView {
  Dtype dtype = Dtype::uint8;
  PixelSize size;
  std::span<const std::byte> payload;  // borrows the file's bytes
};
// Errors: feedrate::Error naming `name`, for a wrong magic, dtype, size, an overflowing or
// mismatching payload length, or trailing bytes.
TensorView parse_tensor(std::span<const std::byte> file, std::string_view name);
// The same for a file whose header and payload were read into two buffers.
TensorView parse_tensor(std::span<const std::byte> header, std::span<const std::byte> payload,
                        std::string_view name);
// Replaces what is in `out`.
void encode_tensor(const PixelView& pixels, Dtype dtype, std::vector<std::byte>& out);

}  // namespace feedrate::codec
