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

void copy_packed(const PixelView& pixels, std::uint8_t* out) {
  const std::size_t row_bytes = static_cast<std::size_t>(pixels.width) * 3;
  const std::uint8_t* from = pixels.data;
  for (int y = 0; y < pixels.height; ++y, from += pixels.stride, out += row_bytes)
    std::memcpy(out, from, row_bytes);
}

PixelView copy_window(const PlainPixels& picture, const Rect& window,
                      std::vector<std::uint8_t>& into) {
  const PixelSize size{window.width, window.height};
  if (into.size() < packed_bytes(size)) into.resize(packed_bytes(size));
  const auto* first = reinterpret_cast<const std::uint8_t*>(picture.first);
  copy_packed(window_of(packed_view(first, picture.size), window), into.data());
  return packed_view(into.data(), size);
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
