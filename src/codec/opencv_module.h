#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/module.h"
#include "codec/image.h"

namespace feedrate::codec {

// What the module libfeedrate_opencv.so exports. Decodes a whole picture to `size`'s packed RGB
// rows at `rgb`; false if OpenCV does not decode it, or to another size. Thread-safe.
using DecodeByOpencv = bool(std::span<const std::byte> encoded, PixelSize size, std::uint8_t* rgb);
inline constexpr std::uint64_t kOpencvLayout = layout_of<std::span<const std::byte>, PixelSize>();
inline constexpr const char* kOpencvSymbol = "feedrate_opencv";

}  // namespace feedrate::codec
