#include "codec/plain.h"

#include <cstring>

namespace feedrate::codec {
namespace {

class PlainDecoder : public Decoder {
 public:
  explicit PlainDecoder(PlainParser parse) : parse_(parse) {}

  PixelSize open(std::span<const std::byte> encoded, std::string_view name) override {
    name_ = name;
    picture_ = {};
    picture_ = parse_(encoded, name);
    return picture_.size;
  }

  DecodedWindow decode(const Rect& window, int /*reduction*/) override {
    check_window(window, picture_.size, name_);
    const PlainPixels picture = std::exchange(picture_, {});  // once per open()
    return DecodedWindow(copy_window(picture, window, pixels_));
  }

 private:
  PlainParser parse_;
  PlainPixels picture_;  // empty when none is open
  std::string name_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace

PixelView copy_window(const PlainPixels& picture, const Rect& window,
                      std::vector<std::uint8_t>& into) {
  const std::size_t row_bytes = static_cast<std::size_t>(window.width) * 3;
  const std::size_t bytes = row_bytes * static_cast<std::size_t>(window.height);
  if (into.size() < bytes) into.resize(bytes);
  const std::size_t stride = static_cast<std::size_t>(picture.size.width) * 3;
  const std::byte* from = picture.first + static_cast<std::size_t>(window.y) * stride +
                          static_cast<std::size_t>(window.x) * 3;
  for (int y = 0; y < window.height; ++y, from += stride) {
    std::memcpy(into.data() + static_cast<std::size_t>(y) * row_bytes, from, row_bytes);
  }
  return {into.data(), static_cast<std::ptrdiff_t>(row_bytes), window.width, window.height};
}

std::unique_ptr<Decoder> make_plain_decoder(PlainParser parse) {
  return std::make_unique<PlainDecoder>(parse);
}

void append_packed(const PixelView& pixels, std::vector<std::byte>& out) {
  const std::size_t row_bytes = static_cast<std::size_t>(pixels.width) * 3;
  out.reserve(out.size() + row_bytes * static_cast<std::size_t>(pixels.height));
  for (int y = 0; y < pixels.height; ++y) {
    const auto* row = reinterpret_cast<const std::byte*>(pixels.data + y * pixels.stride);
    out.insert(out.end(), row, row + row_bytes);
  }
}

void check_payload(std::size_t payload, std::size_t expected, std::string_view name) {
  if (payload == expected) return;
  refuse_picture(name, "it holds " + std::to_string(payload) + " bytes of pixels instead of " +
                           std::to_string(expected));
}

}  // namespace feedrate::codec
