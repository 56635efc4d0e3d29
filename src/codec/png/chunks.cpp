#include "codec/png/chunks.h"

#include <isa-l/crc.h>

#include <array>
#include <cstring>

#include "codec/bytes.h"

namespace feedrate::codec {
namespace {

constexpr std::array<std::uint8_t, 8> kSignature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

std::uint32_t big_endian(const std::uint8_t* at) {
  return load_be32(reinterpret_cast<const std::byte*>(at));
}

int channels_of(std::uint8_t colour_type) {
  switch (colour_type) {
    case 0:
      return 1;
    case 2:
      return 3;
    case 4:
      return 2;
    case 6:
      return 4;
    default:
      return 0;  // a palette
  }
}

std::optional<PngLayout> png_layout(std::span<const std::uint8_t> header) {
  if (header.size() != 13) return std::nullopt;
  const std::uint8_t depth = header[8], compression = header[10], filter = header[11],
                     interlace = header[12];
  const PngLayout layout{big_endian(header.data()), big_endian(&header[4]), channels_of(header[9])};
  const bool common =
      depth == 8 && layout.channels != 0 && compression == 0 && filter == 0 && interlace == 0;
  return common ? std::optional(layout) : std::nullopt;
}

}  // namespace

std::optional<PngLayout> read_png_chunks(std::span<const std::byte> file,
                                         std::vector<std::span<const std::uint8_t>>& data) {
  data.clear();
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(file.data());
  if (file.size() < kSignature.size() ||
      std::memcmp(bytes, kSignature.data(), kSignature.size()) != 0) {
    return std::nullopt;
  }
  std::optional<PngLayout> layout;
  // Length, type, contents, checksum of type and contents.
  for (std::size_t at = kSignature.size(); file.size() - at >= 12;) {
    const std::size_t length = big_endian(bytes + at);
    if (length > file.size() - at - 12) return std::nullopt;
    const std::uint8_t *type = bytes + at + 4, *contents = type + 4;
    const auto is = [&](const char* name) { return std::memcmp(type, name, 4) == 0; };
    if (crc32_gzip_refl(0, type, length + 4) != big_endian(contents + length)) return std::nullopt;
    if (is("IHDR") || is("IDAT")) {
      if (is("IHDR") != !layout) return std::nullopt;  // first, and once
      if (is("IDAT")) {
        data.push_back({contents, length});
      } else if (layout = png_layout({contents, length}); !layout) {
        return std::nullopt;
      }
    }
    if (is("IEND")) {
      if (data.empty()) return std::nullopt;
      layout->has_bytes_behind = file.size() - at > length + 12;
      return layout;
    }
    at += length + 12;
  }
  return std::nullopt;
}

}  // namespace feedrate::codec
