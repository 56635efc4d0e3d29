// The format "bmp": written as 24-bit BI_RGB, bottom-up; read as 24- or 32-bit BI_RGB, either way
// up (BITMAPINFOHEADER and its longer successors).
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "codec/bytes.h"
#include "codec/checks.h"
#include "codec/formats.h"

namespace feedrate::codec {
namespace {

constexpr std::size_t kFileHeaderBytes = 14;
constexpr std::size_t kInfoHeaderBytes = 40;
constexpr std::size_t kHeadersBytes = kFileHeaderBytes + kInfoHeaderBytes;

struct BmpLayout {
  PixelSize size;
  const std::byte* top = nullptr;  // the top row's first pixel
  std::ptrdiff_t stride = 0;       // to the row below; negative when stored bottom-up
  int pixel_bytes = 3;
  bool has_bytes_behind = false;  // behind the pixels, and beyond what the header says
};

// Rows are padded to four bytes.
std::int64_t row_bytes_of(std::int64_t width, int pixel_bytes) {
  return (width * pixel_bytes + 3) / 4 * 4;
}

BmpLayout parse_bmp(std::span<const std::byte> file, std::string_view name) {
  if (file.size() < kHeadersBytes || std::memcmp(file.data(), "BM", 2) != 0) {
    refuse_picture(name, "not a BMP file, or cut off in its header");
  }
  const std::int64_t file_bytes = load_le<std::uint32_t>(&file[2]);
  const std::int64_t offset = load_le<std::uint32_t>(&file[10]);
  const std::int64_t info_bytes = load_le<std::uint32_t>(&file[14]);
  const std::int64_t width = static_cast<std::int32_t>(load_le<std::uint32_t>(&file[18]));
  const std::int64_t height = static_cast<std::int32_t>(load_le<std::uint32_t>(&file[22]));
  const int planes = load_le<std::uint16_t>(&file[26]);
  const int bits = load_le<std::uint16_t>(&file[28]);
  const auto compression = load_le<std::uint32_t>(&file[30]);
  if (info_bytes < static_cast<std::int64_t>(kInfoHeaderBytes) || info_bytes > 1024 ||
      planes != 1 || (bits != 24 && bits != 32) || compression != 0) {
    refuse_picture(name, "not an uncompressed BMP of 24 or 32 bits");
  }
  BmpLayout layout;
  layout.size = checked_size(width, height < 0 ? -height : height, name);
  layout.pixel_bytes = bits / 8;
  const std::int64_t row_bytes = row_bytes_of(width, layout.pixel_bytes);
  const std::int64_t pixel_bytes = row_bytes * layout.size.height;  // at most 2^26 * 4: no overflow
  const auto size = static_cast<std::int64_t>(file.size());
  if (offset < static_cast<std::int64_t>(kFileHeaderBytes) + info_bytes || offset > size ||
      pixel_bytes > size - offset || file_bytes > size) {
    refuse_picture(name, "the BMP file is cut off or its header is damaged");
  }
  layout.has_bytes_behind = size > std::max(file_bytes, offset + pixel_bytes);
  const bool bottom_up = height > 0;
  layout.top = file.data() + offset + (bottom_up ? row_bytes * (layout.size.height - 1) : 0);
  layout.stride = static_cast<std::ptrdiff_t>(bottom_up ? -row_bytes : row_bytes);
  return layout;
}

class BmpDecoder : public Decoder {
 public:
  PixelSize open(std::span<const std::byte> encoded, std::string_view name) override {
    name_ = name;
    layout_ = {};
    layout_ = parse_bmp(encoded, name);
    return layout_.size;
  }

  DecodedWindow decode(const Rect& window, int /*reduction*/) override {
    check_window(window, layout_.size, name_);
    const BmpLayout layout = std::exchange(layout_, {});  // once per open()
    has_bytes_behind_ = layout.has_bytes_behind;
    const std::size_t row_bytes = static_cast<std::size_t>(window.width) * 3;
    const std::size_t bytes = row_bytes * static_cast<std::size_t>(window.height);
    if (pixels_.size() < bytes) pixels_.resize(bytes);
    std::uint8_t* to = pixels_.data();
    for (int y = 0; y < window.height; ++y) {
      const auto* from = reinterpret_cast<const std::uint8_t*>(
          layout.top + (window.y + y) * layout.stride +
          static_cast<std::ptrdiff_t>(window.x) * layout.pixel_bytes);
      for (int x = 0; x < window.width; ++x, from += layout.pixel_bytes, to += 3) {
        to[0] = from[2];
        to[1] = from[1];
        to[2] = from[0];
      }
    }
    return DecodedWindow(
        {pixels_.data(), static_cast<std::ptrdiff_t>(row_bytes), window.width, window.height});
  }

  StrayBytes stray_bytes() const override { return {.behind_end = has_bytes_behind_}; }

 private:
  BmpLayout layout_;  // empty when no picture is open
  bool has_bytes_behind_ = false;
  std::string name_;
  std::vector<std::uint8_t> pixels_;
};

void encode_bmp(const PixelView& pixels, const EncodeOptions&, std::vector<std::byte>& out) {
  const std::int64_t row_bytes = row_bytes_of(pixels.width, 3);
  const std::int64_t pixel_bytes = row_bytes * pixels.height;
  out.assign(kHeadersBytes + static_cast<std::size_t>(pixel_bytes), std::byte{0});
  std::memcpy(out.data(), "BM", 2);
  store_le(&out[2], static_cast<std::uint32_t>(out.size()));
  store_le(&out[10], static_cast<std::uint32_t>(kHeadersBytes));
  store_le(&out[14], static_cast<std::uint32_t>(kInfoHeaderBytes));
  store_le(&out[18], static_cast<std::uint32_t>(pixels.width));
  store_le(&out[22], static_cast<std::uint32_t>(pixels.height));
  store_le(&out[26], std::uint16_t{1});
  store_le(&out[28], std::uint16_t{24});
  store_le(&out[34], static_cast<std::uint32_t>(pixel_bytes));
  for (int y = 0; y < pixels.height; ++y) {
    const std::uint8_t* from = pixels.data + y * pixels.stride;
    std::byte* to = out.data() + kHeadersBytes + row_bytes * (pixels.height - 1 - y);
    for (int x = 0; x < pixels.width; ++x, from += 3, to += 3) {
      to[0] = static_cast<std::byte>(from[2]);
      to[1] = static_cast<std::byte>(from[1]);
      to[2] = static_cast<std::byte>(from[0]);
    }
  }
}

}  // namespace

Format bmp_format() {
  return {"bmp",
          ".bmp",
          "BMP, 24 bits, uncompressed",
          true,
          [] { return std::unique_ptr<Decoder>(std::make_unique<BmpDecoder>()); },
          encode_bmp};
}

}  // namespace feedrate::codec
