#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "codec/codec.h"

namespace feedrate::codec {

// What to do about a file that cannot be decoded; the same for every format.
inline constexpr std::string_view kDamagedRemedy =
    "replace or remove the file (`feedrate verify DIR` lists all that are bad), or go on without "
    "it: --on-bad skip (--loader pool or batch)";

[[noreturn]] inline void refuse_picture(std::string_view name, std::string_view reason) {
  throw Error(name, reason, kDamagedRemedy);
}

inline bool is_size_allowed(std::int64_t width, std::int64_t height) {
  return width > 0 && height > 0 && width <= kMaxPixels && height <= kMaxPixels &&
         width * height <= kMaxPixels;
}

// The size that a header claims, checked before anything is allocated for it.
inline PixelSize checked_size(std::int64_t width, std::int64_t height, std::string_view name) {
  const auto claim = [&] { return std::to_string(width) + "x" + std::to_string(height); };
  if (width <= 0 || height <= 0) refuse_picture(name, "its header says " + claim() + " pixels");
  if (!is_size_allowed(width, height)) {
    refuse_picture(name, "its header says " + claim() + " pixels, more than the limit of " +
                             std::to_string(kMaxPixels));
  }
  return {static_cast<int>(width), static_cast<int>(height)};
}

// A window outside the picture is the caller's mistake, but must never become a read out of bounds.
// Subtractions only, so that no sum can overflow.
inline void check_window(const Rect& window, PixelSize size, std::string_view name) {
  const bool inside = window.x >= 0 && window.y >= 0 && window.width > 0 && window.height > 0 &&
                      window.width <= size.width && window.x <= size.width - window.width &&
                      window.height <= size.height && window.y <= size.height - window.height;
  if (!inside) throw Error(name, "the window is not inside the opened picture");
}

}  // namespace feedrate::codec
