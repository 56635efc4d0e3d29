#include "codec/image.h"

#include <charconv>

#include "base/error.h"

namespace feedrate::codec {
namespace {

int side(std::string_view text, std::string_view whole) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr int kMost = 8192;
  if (error != std::errc{} || end != text.data() + text.size() || value < 1) {
    if (error == std::errc::result_out_of_range) value = kMost + 1;
    if (value <= kMost)
      throw UsageError(std::string(whole), "is not a size in pixels", "use WxH, or N for NxN");
  }
  if (value > kMost)
    throw UsageError(std::string(whole), "is larger than this program takes",
                     "use sides of 1 to " + std::to_string(kMost));
  return value;
}

}  // namespace

PixelSize pixel_size_from(std::string_view text) {
  const auto x = text.find('x');
  if (x == std::string_view::npos) return {side(text, text), side(text, text)};
  return {side(text.substr(0, x), text), side(text.substr(x + 1), text)};
}

std::string to_string(PixelSize size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

}  // namespace feedrate::codec
