// The decoding half of the format "jpeg": our own decoder for the common kind of file,
// libjpeg-turbo for all others and for whatever is wrong with a file. The pixels are those of
// libjpeg's defaults (accurate integer DCT, fancy upsampling), and so those of Pillow and OpenCV.
// EXIF orientation is ignored, as ImageNet training ignores it: a rotated picture stays as stored.
#include "codec/jpeg/encode.h"

#include <algorithm>
#include <string>

#include "codec/formats.h"
#include "codec/jpeg/baseline.h"
#include "codec/jpeg/errors.h"
#include "codec/scratch.h"
#include "codec/whole_picture.h"

namespace feedrate::codec {
namespace {

// A progressive file may hold any number of scans over all its pixels: a few kilobytes that take
// hours. Real encoders write about ten.
constexpr int kMaxScans = 500;

void refuse_many_scans(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMaxScans) {
    JpegErrors::fail(info, "it has more than 500 progressive scans");
  }
}

// a * b / 255, rounded, for bytes.
int scaled_light(int a, int b) {
  const int product = a * b + 128;
  return (product + (product >> 8)) >> 8;
}

// Four-channel files hold Adobe's inverted CMYK (255 = no ink) in practice, with or without the
// Adobe marker; Pillow and OpenCV treat all of them this way. The arithmetic is Pillow's, to the
// bit.
void cmyk_row_to_rgb(const std::uint8_t* cmyk, int width, std::uint8_t* rgb) {
  for (int x = 0; x < width; ++x, cmyk += 4, rgb += 3) {
    const int light = cmyk[3];
    for (int c = 0; c < 3; ++c) {
      rgb[c] = static_cast<std::uint8_t>(std::max(0, light - scaled_light(255 - cmyk[c], light)));
    }
  }
}

class JpegDecoder : public Decoder {
 public:
  // `by_library`: libjpeg-turbo decodes all files.
  explicit JpegDecoder(bool by_library) : by_library_(by_library) {
    info_.err = errors_.manager();
    progress_.progress_monitor = refuse_many_scans;
    errors_.guarded("libjpeg", [this] { create(); });
  }
  ~JpegDecoder() override { jpeg_destroy_decompress(&info_); }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  PixelSize open(std::span<const std::byte> encoded, std::string_view name) override {
    name_ = name;
    size_ = {};
    stray_ = {};
    errors_.forget_stray_bytes();
    errors_.guarded(name_, [&] {
      jpeg_destroy_decompress(&info_);
      create();
      jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(encoded.data()), encoded.size());
      jpeg_read_header(&info_, TRUE);
    });
    size_ = checked_size(info_.image_width, info_.image_height, name_);
    return size_;
  }

  DecodedWindow decode(const Rect& window, int reduction) override {
    check_window(window, size_, name_);
    size_ = {};  // once per open(), even if decode() fails
    // The pixels of the reduced picture that the window touches.
    const int x = window.x / reduction, y = window.y / reduction;
    const Rect reduced{x, y, divided_up(window.x + window.width, reduction) - x,
                       divided_up(window.y + window.height, reduction) - y};
    const double each = reduction;
    return {decode_any(reduced, reduction), window.x / each - x, window.y / each - y,
            window.width / each, window.height / each};
  }

  StrayBytes stray_bytes() const override {
    return {stray_.before_marker || errors_.stray_bytes(), stray_.behind_end};
  }

 private:
  // For each picture: libjpeg keeps the tables of one for the next, which may lack its own
  // (jpeg_abort() keeps them, too). It takes 0.2 us.
  void create() {
    jpeg_create_decompress(&info_);
    info_.progress = &progress_;
  }

  // A window of the picture at 1/reduction of its size.
  PixelView decode_any(const Rect& window, int reduction) {
    if (!by_library_ && baseline_.decode(info_, window, reduction)) {
      stray_ = baseline_.stray_bytes();
      return baseline_.pixels();
    }
    const bool four = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
    const auto width =
        static_cast<std::size_t>(divided_up(static_cast<int>(info_.image_width), reduction));
    const std::size_t stride = width * 3;
    grow(row_, width * 4);
    grow(pixels_, stride * static_cast<std::size_t>(window.height));
    errors_.guarded(name_, [&] {
      info_.out_color_space = four ? JCS_CMYK : JCS_RGB;
      info_.scale_num = 1;
      info_.scale_denom = static_cast<unsigned>(reduction);
      jpeg_start_decompress(&info_);
      read_rows(window, stride, four);
      // The rows below the window are never decoded. Where there are none, the end of the file is
      // checked as well.
      const bool is_whole = info_.output_scanline == info_.output_height;
      const bool met_end = is_whole || jpeg_input_complete(&info_);
      if (is_whole) {
        jpeg_finish_decompress(&info_);
      } else {
        jpeg_abort_decompress(&info_);
      }
      stray_.behind_end = met_end && info_.src->bytes_in_buffer > 0;
    });
    return {pixels_.data() + static_cast<std::size_t>(window.x) * 3,
            static_cast<std::ptrdiff_t>(stride), window.width, window.height};
  }

  // Whole rows: those above the window go to one scratch row, those in it to their place.
  void read_rows(const Rect& window, std::size_t stride, bool four) {
    for (int y = 0; y < window.y + window.height; ++y) {
      std::uint8_t* place =
          y < window.y ? nullptr : pixels_.data() + static_cast<std::size_t>(y - window.y) * stride;
      JSAMPROW row = place == nullptr || four ? row_.data() : place;
      jpeg_read_scanlines(&info_, &row, 1);
      if (place != nullptr && four) {
        cmyk_row_to_rgb(row, static_cast<int>(info_.output_width), place);
      }
    }
  }

  const bool by_library_;
  jpeg_decompress_struct info_{};
  JpegErrors errors_;
  BaselineJpeg baseline_;
  jpeg_progress_mgr progress_{};
  std::string name_;
  PixelSize size_;  // of the open picture; empty when there is none
  StrayBytes stray_;
  Scratch row_, pixels_;
};

}  // namespace

Format jpeg_format() {
  return {"jpeg",
          ".jpg",
          "JPEG, as ImageNet is stored; own decoder for baseline files, else libjpeg-turbo",
          false,
          [] { return std::unique_ptr<Decoder>(std::make_unique<JpegDecoder>(false)); },
          encode_jpeg,
          ".jpeg",
          [] {
            return std::unique_ptr<Decoder>(
                std::make_unique<WholePictureDecoder>(std::make_unique<JpegDecoder>(true)));
          }};
}

}  // namespace feedrate::codec
