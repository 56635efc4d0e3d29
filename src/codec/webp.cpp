// The format "webp": written lossy, read lossy, lossless and animated (its first picture), by
// libwebp. Alpha is dropped.
#include <webp/decode.h>
#include <webp/demux.h>
#include <webp/encode.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "codec/bytes.h"
#include "codec/checks.h"
#include "codec/formats.h"
#include "codec/scratch.h"

namespace feedrate::codec {
namespace {

struct FreeWebp {
  void operator()(std::uint8_t* file) const { WebPFree(file); }
  void operator()(WebPAnimDecoder* decoder) const { WebPAnimDecoderDelete(decoder); }
};

const std::uint8_t* webp_bytes(std::span<const std::byte> file) {
  return reinterpret_cast<const std::uint8_t*>(file.data());
}

void check_webp(VP8StatusCode status, std::string_view name) {
  if (status == VP8_STATUS_OK) return;
  if (status == VP8_STATUS_OUT_OF_MEMORY) throw std::bad_alloc();
  const bool is_cut = status == VP8_STATUS_NOT_ENOUGH_DATA || status == VP8_STATUS_SUSPENDED;
  refuse_picture(name, is_cut ? "WebP: the file is cut off"
                       : status == VP8_STATUS_UNSUPPORTED_FEATURE
                           ? "WebP: of a kind unknown to libwebp"
                           : "WebP: its data is damaged");
}

// A file that is cut off is found here, even where the window ends above the cut. Returns whether
// bytes follow what its size says.
bool check_riff(std::span<const std::byte> file, std::string_view name) {
  constexpr std::size_t kHeader = 12, kBeforeSize = 8;
  if (file.size() < kHeader || std::memcmp(file.data(), "RIFF", 4) != 0 ||
      std::memcmp(&file[8], "WEBP", 4) != 0)
    refuse_picture(name, "not a WebP file, or cut off in its header");
  const std::size_t size = load_le<std::uint32_t>(&file[4]), most = file.size() - kBeforeSize;
  if (size > most) refuse_picture(name, "WebP: the file is cut off");
  return size + size % 2 < most;  // padded to an even number
}

// What has to be decoded for a window's pixels to be those of the whole picture: libwebp snaps a
// corner to even numbers, and the outermost pixels of what it decodes have no neighbours, of which
// it would make their colours.
Rect with_margin(const Rect& window, PixelSize size) {
  const int left = std::max(window.x - 1, 0) & ~1, top = std::max(window.y - 1, 0) & ~1;
  const int right = std::min(window.x + window.width + 1, size.width),
            bottom = std::min(window.y + window.height + 1, size.height);
  return {left, top, right - left, bottom - top};
}

class WebpDecoder : public Decoder {
 public:
  PixelSize open(std::span<const std::byte> encoded, std::string_view name) override {
    name_ = name;
    encoded_ = encoded;
    size_ = {};
    has_bytes_behind_ = check_riff(encoded, name);
    WebPBitstreamFeatures features;
    check_webp(WebPGetFeatures(webp_bytes(encoded), encoded.size(), &features), name);
    is_animated_ = features.has_animation != 0;
    size_ = checked_size(features.width, features.height, name);
    return size_;
  }

  DecodedWindow decode(const Rect& window, int /*reduction*/) override {
    check_window(window, size_, name_);
    const PixelSize size = std::exchange(size_, {});  // once per open(), even if decode() fails
    if (is_animated_) return DecodedWindow(window_of(first_picture(size), window));
    const Rect part = with_margin(window, size);
    const Rect within{window.x - part.x, window.y - part.y, window.width, window.height};
    return DecodedWindow(window_of(still_picture(part), within));
  }

  StrayBytes stray_bytes() const override { return {.behind_end = has_bytes_behind_}; }

 private:
  PixelView still_picture(const Rect& part) {
    const PixelSize size{part.width, part.height};
    WebPDecoderConfig config;
    if (WebPInitDecoderConfig(&config) == 0)
      throw Error("libwebp", "is of another version than the one this was built with",
                  "build feedrate again");
    config.options.use_cropping = 1;
    config.options.crop_left = part.x, config.options.crop_top = part.y;
    config.options.crop_width = part.width, config.options.crop_height = part.height;
    const std::size_t stride = 3 * static_cast<std::size_t>(part.width),
                      bytes = stride * static_cast<std::size_t>(part.height);
    config.output.colorspace = MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA = {grow(pixels_, bytes), static_cast<int>(stride), bytes};
    check_webp(WebPDecode(webp_bytes(encoded_), encoded_.size(), &config), name_);
    return packed_view(pixels_.data(), size);
  }

  PixelView first_picture(PixelSize size) {
    const WebPData file{webp_bytes(encoded_), encoded_.size()};
    const std::unique_ptr<WebPAnimDecoder, FreeWebp> decoder(WebPAnimDecoderNew(&file, nullptr));
    WebPAnimInfo info{};
    std::uint8_t* rgba = nullptr;
    int shown_ms = 0;
    if (!decoder || WebPAnimDecoderGetInfo(decoder.get(), &info) == 0 ||
        static_cast<int>(info.canvas_width) != size.width ||
        static_cast<int>(info.canvas_height) != size.height ||
        WebPAnimDecoderGetNext(decoder.get(), &rgba, &shown_ms) == 0)
      refuse_picture(name_, "WebP: the first picture of its animation is damaged");
    const auto count = static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
    std::uint8_t* out = grow(pixels_, 3 * count);
    for (std::size_t i = 0; i < count; ++i) std::copy_n(rgba + 4 * i, 3, out + 3 * i);
    return packed_view(pixels_.data(), size);
  }

  std::string name_;
  std::span<const std::byte> encoded_;
  PixelSize size_;  // of the open picture; empty when there is none
  bool is_animated_ = false, has_bytes_behind_ = false;
  Scratch pixels_;
};

void encode_webp(const PixelView& pixels, const EncodeOptions& options,
                 std::vector<std::byte>& out) {
  if (options.jpeg_quality < 1 || options.jpeg_quality > 100)
    throw UsageError("WebP quality " + std::to_string(options.jpeg_quality), "not from 1 to 100");
  std::uint8_t* file = nullptr;
  const std::size_t size =
      WebPEncodeRGB(pixels.data, pixels.width, pixels.height, static_cast<int>(pixels.stride),
                    static_cast<float>(options.jpeg_quality), &file);
  const std::unique_ptr<std::uint8_t, FreeWebp> owner(file);
  if (size == 0)
    throw Error("WebP encoder",
                "cannot encode " + to_string(PixelSize{pixels.width, pixels.height}) + " pixels",
                "a side of a WebP has at most 16383: choose another --format");
  const auto* bytes = reinterpret_cast<const std::byte*>(file);
  out.assign(bytes, bytes + size);
}

}  // namespace

Format webp_format() {
  return {"webp",
          ".webp",
          "WebP, lossy at --quality; libwebp",
          false,
          [] { return std::unique_ptr<Decoder>(std::make_unique<WebpDecoder>()); },
          encode_webp};
}

}  // namespace feedrate::codec
