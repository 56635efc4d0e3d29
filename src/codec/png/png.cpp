// The formats "png" and "png0" (stored, not deflated): a decoder of our own for common files,
// libspng for all others, for whatever is wrong with a file, and for encoding. Alpha is dropped and
// 16 bits are cut to 8, without gamma, as torchvision's RGB mode does. Bad checksums are errors.
#include <spng.h>

#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "codec/bytes.h"
#include "codec/checks.h"
#include "codec/formats.h"
#include "codec/png/common.h"
#include "codec/scratch.h"
#include "codec/whole_picture.h"

namespace feedrate::codec {
namespace {

struct FreeContext {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};
using Context = std::unique_ptr<spng_ctx, FreeContext>;

Context make_context(int flags) {
  Context context(spng_ctx_new(flags));
  if (!context) throw std::bad_alloc();
  return context;
}

void check(int result, std::string_view name) {
  if (result != SPNG_OK) refuse_picture(name, std::string("PNG: ") + spng_strerror(result));
}

// Hops from chunk to chunk (length, type, data, CRC) to IEND. It costs a few reads, and a file that
// is cut off is found even where the window ends above the cut. Returns whether bytes follow IEND.
bool check_chunks(std::span<const std::byte> file, std::string_view name) {
  for (std::size_t at = 8; at <= file.size() && file.size() - at >= 12;) {
    const std::size_t length = load_be32(&file[at]);
    if (length > file.size() - at - 12) break;
    if (std::memcmp(&file[at + 4], "IEND", 4) == 0) return file.size() - at > 12 + length;
    at += 12 + length;
  }
  refuse_picture(name, "PNG: the file is cut off");
}

class PngDecoder : public Decoder {
 public:
  // `by_library`: libspng decodes all files.
  explicit PngDecoder(bool by_library) : by_library_(by_library) {}

  PixelSize open(std::span<const std::byte> encoded, std::string_view name) override {
    name_ = name;
    encoded_ = encoded;
    size_ = {};
    const auto size = by_library_ ? std::nullopt : common_.open(encoded);
    is_common_ = size.has_value();
    if (is_common_) stray_ = common_.stray_bytes();
    size_ = is_common_ ? *size : open_any();
    return size_;
  }

  DecodedWindow decode(const Rect& window, int /*reduction*/) override {
    check_window(window, size_, name_);
    const PixelSize size = std::exchange(size_, {});  // once per open(), even if decode() fails
    if (is_common_) {
      if (common_.decode(window)) return DecodedWindow(common_.pixels());
      open_any();
    }
    return DecodedWindow(decode_any(window, size));
  }

  StrayBytes stray_bytes() const override { return stray_; }

 private:
  // Opens by libspng what is not common, and what is damaged.
  PixelSize open_any() {
    context_ = make_context(0);
    // Bounds what compressed text and colour profiles may unfold to.
    check(spng_set_chunk_limits(context_.get(), 16 << 20, 16 << 20), name_);
    check(spng_set_crc_action(context_.get(), SPNG_CRC_ERROR, SPNG_CRC_ERROR), name_);
    check(spng_set_png_buffer(context_.get(), encoded_.data(), encoded_.size()), name_);
    spng_ihdr header;
    check(spng_get_ihdr(context_.get(), &header), name_);
    const PixelSize size = checked_size(header.width, header.height, name_);
    stray_.behind_end = check_chunks(encoded_, name_);
    interlaced_ = header.interlace_method != SPNG_INTERLACE_NONE;
    return size;
  }

  PixelView decode_any(const Rect& window, PixelSize size) {
    const std::size_t stride = static_cast<std::size_t>(size.width) * 3;
    const int first = interlaced_ ? 0 : window.y;  // row that pixels_ starts with
    const int rows = interlaced_ ? size.height : window.height;
    grow(pixels_, stride * static_cast<std::size_t>(rows));
    if (interlaced_) {
      check(
          spng_decode_image(context_.get(), pixels_.data(), stride * size.height, SPNG_FMT_RGB8, 0),
          name_);
    } else {
      decode_rows(window, stride, size.height);
    }
    if (interlaced_ || window.y + window.height == size.height) {
      check(spng_decode_chunks(context_.get()), name_);
    }
    const std::size_t corner = static_cast<std::size_t>(window.y - first) * stride +
                               static_cast<std::size_t>(window.x) * 3;
    return {pixels_.data() + corner, static_cast<std::ptrdiff_t>(stride), window.width,
            window.height};
  }

  // Rows below the window are not inflated. Rows above it are, as each row needs the one above.
  void decode_rows(const Rect& window, std::size_t stride, int height) {
    grow(row_, stride);
    check(spng_decode_image(context_.get(), nullptr, 0, SPNG_FMT_RGB8, SPNG_DECODE_PROGRESSIVE),
          name_);
    for (int y = 0; y < window.y + window.height; ++y) {
      std::uint8_t* row = y < window.y
                              ? row_.data()
                              : pixels_.data() + static_cast<std::size_t>(y - window.y) * stride;
      const int result = spng_decode_row(context_.get(), row, stride);
      const bool last = y + 1 == height;
      if (!(last && result == SPNG_EOI)) check(result, name_);
    }
  }

  const bool by_library_;
  Context context_;
  CommonPng common_;
  std::string name_;
  std::span<const std::byte> encoded_;
  PixelSize size_;  // of the open picture; empty when there is none
  StrayBytes stray_;
  bool is_common_ = false, interlaced_ = false;
  Scratch row_, pixels_;
};

void encode_at(int level, const PixelView& pixels, std::vector<std::byte>& out) {
  const std::string_view name = "PNG encoder";
  if (level < 0 || level > 9) {
    throw UsageError("PNG level " + std::to_string(level), "not from 0 to 9");
  }
  const Context context = make_context(SPNG_CTX_ENCODER);
  spng_ihdr header{};
  header.width = static_cast<std::uint32_t>(pixels.width);
  header.height = static_cast<std::uint32_t>(pixels.height);
  header.bit_depth = 8;
  header.color_type = SPNG_COLOR_TYPE_TRUECOLOR;
  check(spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1), name);
  check(spng_set_option(context.get(), SPNG_IMG_COMPRESSION_LEVEL, level), name);
  check(spng_set_ihdr(context.get(), &header), name);
  check(spng_encode_image(context.get(), nullptr, 0, SPNG_FMT_PNG,
                          SPNG_ENCODE_PROGRESSIVE | SPNG_ENCODE_FINALIZE),
        name);
  const std::size_t row_bytes = static_cast<std::size_t>(pixels.width) * 3;
  for (int y = 0; y < pixels.height; ++y) {
    const int result = spng_encode_row(context.get(), pixels.data + y * pixels.stride, row_bytes);
    const bool last = y + 1 == pixels.height;
    if (!(last && result == SPNG_EOI)) check(result, name);
  }
  std::size_t size = 0;
  int result = SPNG_OK;
  const std::unique_ptr<void, decltype(&std::free)> file(
      spng_get_png_buffer(context.get(), &size, &result), &std::free);
  check(result, name);
  const auto* bytes = static_cast<const std::byte*>(file.get());
  out.assign(bytes, bytes + size);
}

std::unique_ptr<Decoder> make_own_decoder() { return std::make_unique<PngDecoder>(false); }

std::unique_ptr<Decoder> make_spng_decoder() {
  return std::make_unique<WholePictureDecoder>(std::make_unique<PngDecoder>(true));
}

}  // namespace

Format png_format() {
  return {"png",
          ".png",
          "PNG, deflated at --png-level; ISA-L and own unfiltering for common files, else libspng",
          true,
          make_own_decoder,
          [](const PixelView& pixels, const EncodeOptions& options, std::vector<std::byte>& out) {
            encode_at(options.png_level, pixels, out);
          },
          {},
          make_spng_decoder};
}

Format png0_format() {
  return {"png0",
          ".png",
          "PNG at level 0: filtered and checksummed, not deflated",
          true,
          make_own_decoder,
          [](const PixelView& pixels, const EncodeOptions&, std::vector<std::byte>& out) {
            encode_at(0, pixels, out);
          },
          {},
          make_spng_decoder};
}

}  // namespace feedrate::codec
