#include "webp_files.h"

#include <webp/encode.h>

#include "codec/bytes.h"

namespace feedrate::tests {
namespace {

Bytes owned_webp(std::uint8_t* file, std::size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(file);
  Bytes bytes(first, first + size);
  WebPFree(file);
  return bytes;
}

void append_webp_chunk(Bytes& to, std::string_view name, const Bytes& content) {
  const auto* type = reinterpret_cast<const std::byte*>(name.data());
  to.insert(to.end(), type, type + 4);
  to.resize(to.size() + 4);
  codec::store_le(&to[to.size() - 4], static_cast<std::uint32_t>(content.size()));
  to.insert(to.end(), content.begin(), content.end());
  if (content.size() % 2 != 0) to.push_back(std::byte{0});
}

void store_24(std::byte* to, int value) {
  for (int i = 0; i < 3; ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

}  // namespace

Bytes lossless_webp(const TestPicture& picture) {
  std::uint8_t* file = nullptr;
  const std::size_t size =
      WebPEncodeLosslessRGB(picture.pixels.data(), picture.size.width, picture.size.height,
                            picture.size.width * 3, &file);
  return owned_webp(file, size);
}

Bytes webp_with_alpha(const TestPicture& picture) {
  Pixels rgba;
  for (std::size_t i = 0; i < picture.pixels.size(); i += 3) {
    rgba.insert(rgba.end(), picture.pixels.begin() + static_cast<std::ptrdiff_t>(i),
                picture.pixels.begin() + static_cast<std::ptrdiff_t>(i + 3));
    rgba.push_back(static_cast<std::uint8_t>(1 + i % 255));
  }
  std::uint8_t* file = nullptr;
  const std::size_t size = WebPEncodeLosslessRGBA(
      rgba.data(), picture.size.width, picture.size.height, picture.size.width * 4, &file);
  return owned_webp(file, size);
}

Bytes animated_webp(codec::PixelSize size, const Bytes& first, const Bytes& second) {
  Bytes extended(10), chunks;
  extended[0] = std::byte{2};  // it is an animation
  store_24(&extended[4], size.width - 1);
  store_24(&extended[7], size.height - 1);
  append_webp_chunk(chunks, "VP8X", extended);
  append_webp_chunk(chunks, "ANIM", Bytes(6));
  for (const Bytes& picture : {first, second}) {
    Bytes frame(16);
    store_24(&frame[6], size.width - 1);
    store_24(&frame[9], size.height - 1);
    frame[12] = std::byte{100};  // ms
    frame.insert(frame.end(), picture.begin() + 12, picture.end());
    append_webp_chunk(chunks, "ANMF", frame);
  }
  Bytes form;
  const auto* name = reinterpret_cast<const std::byte*>("WEBP");
  form.insert(form.end(), name, name + 4);
  form.insert(form.end(), chunks.begin(), chunks.end());
  Bytes file;
  append_webp_chunk(file, "RIFF", form);
  return file;
}

}  // namespace feedrate::tests
