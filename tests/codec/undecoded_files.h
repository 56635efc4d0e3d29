#pragma once
#include <concepts>
#include <string_view>

#include "codec/bytes.h"
#include "pictures.h"

namespace feedrate::tests {

// Whole files of formats that are known and not decoded, of one gray pixel; their headers say that
// they have more.

inline void append_text(Bytes& to, std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  to.insert(to.end(), first, first + text.size());
}
template <std::unsigned_integral Int>
void append_le(Bytes& to, Int value) {
  to.resize(to.size() + sizeof(Int));
  codec::store_le(&to[to.size() - sizeof(Int)], value);
}

inline Bytes write_gif(std::uint16_t width, std::uint16_t height) {
  using std::string_view_literals::operator""sv;
  Bytes file;
  append_text(file, "GIF89a");
  append_le(file, width), append_le(file, height);
  append_text(file, "\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0"sv);  // two colours; a picture at 0, 0
  append_le(file, width), append_le(file, height);
  append_text(file, "\0\x02\x02\x4c\x01\0;"sv);
  return file;
}

inline Bytes write_tiff(std::uint32_t width, std::uint32_t height) {
  using U16 = std::uint16_t;
  using U32 = std::uint32_t;
  constexpr U16 kLong = 4, kEntries = 8;
  constexpr U32 kDirectory = 8, kPixel = kDirectory + 2 + 12 * kEntries + 4;
  Bytes file;
  append_text(file, std::string_view("II*\0", 4));
  append_le(file, kDirectory), append_le(file, kEntries);
  const auto append_entry = [&](U16 tag, U32 value) {
    append_le(file, tag), append_le(file, kLong), append_le(file, U32{1}), append_le(file, value);
  };
  append_entry(256, width), append_entry(257, height);
  append_entry(258, 8), append_entry(259, 1), append_entry(262, 1);  // bits, stored, black is 0
  append_entry(273, kPixel), append_entry(278, height), append_entry(279, 1);
  append_le(file, U32{0});  // no further directory
  file.push_back(std::byte{128});
  return file;
}

}  // namespace feedrate::tests
