#include "codec/png/common.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>

#include "codec/checks.h"
#include "codec/png/unfilter.h"

namespace feedrate::codec {

CommonPng::CommonPng() : state_(std::make_unique<inflate_state>()) {}
CommonPng::~CommonPng() = default;

std::optional<PixelSize> CommonPng::open(std::span<const std::byte> file) {
  const auto layout = read_png_chunks(file, data_);
  if (!layout || !is_size_allowed(layout->width, layout->height)) return std::nullopt;
  layout_ = *layout;
  return PixelSize{static_cast<int>(layout_.width), static_cast<int>(layout_.height)};
}

bool CommonPng::decode(const Rect& window) {
  const std::ptrdiff_t stride = 1 + std::ptrdiff_t{layout_.width} * layout_.channels;
  const int rows = window.y + window.height;
  const auto bytes = static_cast<std::size_t>(stride) * static_cast<std::size_t>(rows);
  grow(rows_, bytes + static_cast<std::size_t>(stride) * (kUnfilterRows - 1) + 4);
  if (!inflate(bytes, rows == static_cast<int>(layout_.height))) return false;
  if (!unfilter_png(rows_.data(), rows, stride, window.x + window.width, layout_.channels))
    return false;
  view_ = {rows_.data() + window.y * stride + 1 + 3 * window.x, stride, window.width,
           window.height};
  if (layout_.channels != 3) to_rgb(window, layout_.channels, stride);
  return true;
}

bool CommonPng::inflate(std::size_t bytes, bool whole) {
  const auto packed = compressed();
  inflate_state& state = *state_;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_ZLIB;
  state.next_in = const_cast<std::uint8_t*>(packed.data());  // it is only read
  state.avail_in = static_cast<std::uint32_t>(packed.size());
  state.next_out = rows_.data();
  state.avail_out = static_cast<std::uint32_t>(bytes);
  // In one call: a call for each chunk would copy a window of 32 KB each time, and would compute a
  // checksum that is only compared at the stream's end.
  const int result = isal_inflate_stateless(&state);
  const bool stopped = result == ISAL_OUT_OVERFLOW && !whole;
  return state.avail_out == 0 && (result == ISAL_DECOMP_OK || stopped);
}

std::span<const std::uint8_t> CommonPng::compressed() {
  if (data_.size() == 1) return data_.front();
  std::size_t bytes = 0;
  for (const auto part : data_) bytes += part.size();
  std::uint8_t* to = grow(packed_, bytes);
  for (const auto part : data_) to = std::copy(part.begin(), part.end(), to);
  return {packed_.data(), bytes};
}

void CommonPng::to_rgb(const Rect& window, int channels, std::ptrdiff_t stride) {
  const auto width = static_cast<std::size_t>(window.width);
  const std::size_t bytes = 3 * width * static_cast<std::size_t>(window.height);
  std::uint8_t* out = grow(rgb_, bytes);
  for (int y = window.y; y < window.y + window.height; ++y) {
    const std::uint8_t* in = rows_.data() + y * stride + 1 + std::ptrdiff_t{channels} * window.x;
    for (std::size_t x = 0; x < width; ++x, in += channels, out += 3) {
      const bool gray = channels < 3;
      out[0] = in[0], out[1] = in[gray ? 0 : 1], out[2] = in[gray ? 0 : 2];
    }
  }
  view_ = {rgb_.data(), static_cast<std::ptrdiff_t>(3 * width), window.width, window.height};
}

}  // namespace feedrate::codec
