#include "codec/formats.h"

#include <algorithm>
#include <array>

namespace feedrate::codec {

std::span<const Format> picture_formats() {
  static const std::array formats = {
      jpeg_format(), png_format(), png0_format(), bmp_format(),
      npy_format(),  npz_format(), raw_format(),
  };
  return formats;
}

const Format* find_picture_format(std::string_view name) {
  const auto formats = picture_formats();
  const auto found = std::ranges::find(formats, name, &Format::name);
  return found == formats.end() ? nullptr : &*found;
}

}  // namespace feedrate::codec
