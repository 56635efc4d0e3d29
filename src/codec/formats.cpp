#include "codec/formats.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace feedrate::codec {

bool Format::names(std::string_view file) const {
  const auto ends_in = [&](std::string_view ending) {
    if (ending.empty() || file.size() <= ending.size()) return false;
    return std::ranges::equal(file.substr(file.size() - ending.size()), ending, [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) == b;
    });
  };
  return ends_in(extension) || ends_in(other_extension);
}

std::span<const Format> picture_formats() {
  static const std::array formats = {
      jpeg_format(), png_format(), png0_format(), bmp_format(),
      webp_format(), npy_format(), npz_format(),  raw_format(),
  };
  return formats;
}

std::vector<std::string_view> picture_endings() {
  std::vector<std::string_view> endings;
  const auto add = [&](std::string_view ending) {
    if (!ending.empty() && std::ranges::find(endings, ending) == endings.end())
      endings.push_back(ending);
  };
  for (const Format& format : picture_formats()) add(format.extension), add(format.other_extension);
  return endings;
}

const Format* find_picture_format(std::string_view name) {
  const auto formats = picture_formats();
  const auto found = std::ranges::find(formats, name, &Format::name);
  return found == formats.end() ? nullptr : &*found;
}

}  // namespace feedrate::codec
