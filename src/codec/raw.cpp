// The format "raw": packed RGB rows behind the smallest header that says their size: 16 bytes,
// "FRRAW001", u32 height, u32 width, little endian.
#include <cstring>

#include "codec/bytes.h"
#include "codec/formats.h"
#include "codec/plain.h"

namespace feedrate::codec {
namespace {

constexpr std::size_t kRawHeaderBytes = 16;
constexpr char kRawMagic[] = "FRRAW001";

PlainPixels parse_raw(std::span<const std::byte> file, std::string_view name) {
  if (file.size() < kRawHeaderBytes || std::memcmp(file.data(), kRawMagic, 8) != 0) {
    refuse_picture(name, "not a raw picture (no FRRAW001 header)");
  }
  const auto height = load_le<std::uint32_t>(&file[8]);
  const auto width = load_le<std::uint32_t>(&file[12]);
  const PixelSize size = checked_size(width, height, name);
  check_payload(file.size() - kRawHeaderBytes, packed_bytes(size), name);
  return {size, file.data() + kRawHeaderBytes};
}

void encode_raw(const PixelView& pixels, const EncodeOptions&, std::vector<std::byte>& out) {
  out.resize(kRawHeaderBytes);
  std::memcpy(out.data(), kRawMagic, 8);
  store_le(&out[8], static_cast<std::uint32_t>(pixels.height));
  store_le(&out[12], static_cast<std::uint32_t>(pixels.width));
  append_packed(pixels, out);
}

}  // namespace

Format raw_format() {
  return {"raw",
          ".raw",
          "plain RGB bytes behind a 16-byte header",
          true,
          [] { return make_plain_decoder(parse_raw); },
          encode_raw};
}

}  // namespace feedrate::codec
