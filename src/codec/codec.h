#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/image.h"

namespace feedrate::codec {

// Pictures beyond this many pixels are refused from their header alone (decompression bombs).
inline constexpr std::int64_t kMaxPixels = 1LL << 26;  // 8192 x 8192

// Decoded pixels of a picture, possibly at reduced size, and the position of the requested window
// among them. The position is in decoded pixels, and may begin and end within one.
struct DecodedWindow {
  PixelView pixels;
  double x, y, width, height;

  // The window is the whole of `all`.
  explicit DecodedWindow(const PixelView& all)
      : DecodedWindow(all, 0, 0, static_cast<double>(all.width), static_cast<double>(all.height)) {}
  DecodedWindow(const PixelView& of, double left, double top, double wide, double high)
      : pixels(of), x(left), y(top), width(wide), height(high) {}
};

// Bytes that belong to nothing in a picture, which decodes all the same, as in torchvision and
// Pillow.
struct StrayBytes {
  bool before_marker = false;  // of a JPEG
  bool behind_end = false;     // a further picture (MPO) or anything else
  bool any() const { return before_marker || behind_end; }
};

// Turns encoded bytes into pixels. One per worker, reused for every sample, not thread-safe.
// Errors: feedrate::Error naming `name`, for anything that is not a whole, valid picture: a decoder
// never hands out pixels of a picture that it knows to be damaged.
class Decoder {
 public:
  virtual ~Decoder() = default;

  // Reads the header only, so that the caller can choose its crop before anything is decoded.
  // `encoded` must stay valid until the last decode() of it.
  virtual PixelSize open(std::span<const std::byte> encoded, std::string_view name) = 0;

  // The pixels of `window` of the picture last opened: RGB, whatever the file holds (gray is
  // spread, a palette looked up, alpha dropped, 16 bits cut to 8). Called once per open(). They are
  // at 1/reduction (1, 2, 4 or 8) of the picture's size where the format can decode that with less
  // work; else at the picture's own size. They borrow the decoder's memory and are valid until the
  // next open().
  virtual DecodedWindow decode(const Rect& window, int reduction) = 0;

  // Of the picture that decode() was last called for without an Error, as far as that looked: what
  // stands before a JPEG's end is seen where the window reaches the last row and column.
  virtual StrayBytes stray_bytes() const { return {}; }
};

struct EncodeOptions {
  int jpeg_quality = 90;                 // 1-100, libjpeg's scale; of webp, libwebp's
  std::string_view subsampling = "420";  // 420, 422 or 444
  int png_level = 6;                     // 0-9, zlib's scale; png0 is always 0
};

// One stored picture format: a file that defines one, and a line in formats.cpp.
struct Format {
  std::string_view name;       // as typed after --data and --format
  std::string_view extension;  // with its dot
  std::string_view help;       // one line, for `feedrate list`
  bool lossless;
  std::unique_ptr<Decoder> (*make_decoder)();
  // Replaces what is in `out`. Thread-safe.
  void (*encode)(const PixelView& pixels, const EncodeOptions& options,
                 std::vector<std::byte>& out);
  std::string_view other_extension{};  // that files of other programs have, too; empty: none
  // By a common library and nothing of ours: whole pictures at their own size, as most programs
  // decode them. Null: make_decoder()'s is the only one.
  std::unique_ptr<Decoder> (*make_library_decoder)() = nullptr;

  // Whether a file's name ends as this format's do, in any case.
  bool names(std::string_view file) const;
};

// All picture formats, in the order in which they are listed. Thread-safe, immutable.
std::span<const Format> picture_formats();

// What names of their files may end in, each once: formats share endings, as png and png0 do.
std::vector<std::string_view> picture_endings();

// The format of that name, or nullptr.
const Format* find_picture_format(std::string_view name);

}  // namespace feedrate::codec
