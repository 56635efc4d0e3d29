#include "png_files.h"

namespace feedrate::tests {
namespace {

void append_be32(Bytes& to, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<std::byte>(value >> shift));
}

std::uint32_t crc_of(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xffffffffu;
  for (const std::byte b : bytes) {
    crc ^= std::to_integer<std::uint32_t>(b);
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ ((crc & 1u) != 0 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

// zlib's stream with stored blocks only.
Bytes stored(const Bytes& data) {
  Bytes out = {std::byte{0x78}, std::byte{0x01}};
  for (std::size_t at = 0; at < data.size();) {
    const std::size_t length = std::min<std::size_t>(data.size() - at, 65535);
    out.push_back(std::byte{at + length == data.size()});
    for (const std::size_t value : {length, ~length}) {
      out.push_back(static_cast<std::byte>(value));
      out.push_back(static_cast<std::byte>(value >> 8));
    }
    out.insert(out.end(), &data[at], &data[at] + length);
    at += length;
  }
  std::uint32_t a = 1, b = 0;
  for (const std::byte byte : data) {
    a = (a + std::to_integer<std::uint32_t>(byte)) % 65521;
    b = (b + a) % 65521;
  }
  append_be32(out, b << 16 | a);
  return out;
}

Bytes header_of(std::uint32_t width, std::uint32_t height, const PngKind& kind) {
  Bytes header;
  append_be32(header, width);
  append_be32(header, height);
  for (const int value : {kind.depth, kind.color_type, 0, 0, kind.interlaced ? 1 : 0}) {
    header.push_back(static_cast<std::byte>(value));
  }
  return header;
}

Bytes signature() {
  const auto bytes = std::as_bytes(std::span("\x89PNG\r\n\x1a\n", 8));
  return {bytes.begin(), bytes.end()};
}

int bits_of(const PngKind& kind) { return channels_of(kind) * kind.depth; }

// The rows of one Adam7 pass, or of all the picture: every pixel copied bit by bit.
void append_pass(const Bytes& samples, codec::PixelSize size, const PngKind& kind, int x0, int y0,
                 int dx, int dy, Bytes& out) {
  const int bits = bits_of(kind);
  const std::size_t row_bytes = row_bytes_of(kind, size.width);
  if (x0 >= size.width) return;
  for (int y = y0; y < size.height; y += dy) {
    const int columns = (size.width - x0 + dx - 1) / dx;
    Bytes row(row_bytes_of(kind, columns));
    for (int i = 0; i < columns; ++i) {
      for (int bit = 0; bit < bits; ++bit) {
        const int from = (x0 + i * dx) * bits + bit, to = i * bits + bit;
        const std::byte source = samples[y * row_bytes + static_cast<std::size_t>(from / 8)];
        if ((source >> (7 - from % 8) & std::byte{1}) != std::byte{0}) {
          row[static_cast<std::size_t>(to / 8)] |= std::byte{1} << (7 - to % 8);
        }
      }
    }
    out.push_back(std::byte{0});  // no filter
    out.insert(out.end(), row.begin(), row.end());
  }
}

}  // namespace

int channels_of(const PngKind& kind) {
  return kind.color_type == 2 ? 3 : kind.color_type == 4 ? 2 : kind.color_type == 6 ? 4 : 1;
}

std::size_t row_bytes_of(const PngKind& kind, int width) {
  return static_cast<std::size_t>(width * bits_of(kind) + 7) / 8;
}

void palette_entry(int i, std::uint8_t rgb[3]) {
  rgb[0] = static_cast<std::uint8_t>(i * 7);
  rgb[1] = static_cast<std::uint8_t>(255 - i);
  rgb[2] = static_cast<std::uint8_t>(i * 31 + 5);
}

void append_chunk(Bytes& file, const char* type, const Bytes& data) {
  append_be32(file, static_cast<std::uint32_t>(data.size()));
  const std::size_t start = file.size();
  for (int i = 0; i < 4; ++i) file.push_back(static_cast<std::byte>(type[i]));
  file.insert(file.end(), data.begin(), data.end());
  append_be32(file, crc_of(std::span(file).subspan(start)));
}

Bytes write_png(const Bytes& samples, codec::PixelSize size, const PngKind& kind) {
  Bytes file = signature();
  append_chunk(file, "IHDR",
               header_of(static_cast<std::uint32_t>(size.width),
                         static_cast<std::uint32_t>(size.height), kind));
  if (kind.color_type == 3) {
    Bytes palette;
    for (int i = 0; i < 1 << kind.depth; ++i) {
      std::uint8_t rgb[3];
      palette_entry(i, rgb);
      for (const std::uint8_t c : rgb) palette.push_back(std::byte{c});
    }
    append_chunk(file, "PLTE", palette);
  }
  Bytes rows;
  if (kind.interlaced) {
    constexpr int kPasses[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                   {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    for (const auto& p : kPasses) append_pass(samples, size, kind, p[0], p[1], p[2], p[3], rows);
  } else {
    append_pass(samples, size, kind, 0, 0, 1, 1, rows);
  }
  append_chunk(file, "IDAT", stored(rows));
  append_chunk(file, "IEND", {});
  return file;
}

Bytes write_png_header(std::uint32_t width, std::uint32_t height) {
  Bytes file = signature();
  append_chunk(file, "IHDR", header_of(width, height, {}));
  append_chunk(file, "IEND", {});
  return file;
}

}  // namespace feedrate::tests
