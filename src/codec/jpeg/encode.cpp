#include <cstdlib>
#include <string>

#include "codec/jpeg/encode.h"
#include "codec/jpeg/errors.h"

namespace feedrate::codec {
namespace {

// libjpeg's compressor and the buffer that it grows, released whichever way encoding ends.
class JpegEncoder {
 public:
  JpegEncoder() {
    info_.err = errors_.manager();
    errors_.guarded(kName, [this] {
      jpeg_create_compress(&info_);
      jpeg_mem_dest(&info_, &buffer_, &size_);
    });
  }
  ~JpegEncoder() {
    jpeg_destroy_compress(&info_);
    std::free(buffer_);
  }
  JpegEncoder(const JpegEncoder&) = delete;
  JpegEncoder& operator=(const JpegEncoder&) = delete;

  // `horizontal` and `vertical`: how many luma samples there are to a chroma sample.
  std::span<const std::byte> encode(const PixelView& pixels, int quality, int horizontal,
                                    int vertical) {
    errors_.guarded(kName, [&] {
      info_.image_width = static_cast<JDIMENSION>(pixels.width);
      info_.image_height = static_cast<JDIMENSION>(pixels.height);
      info_.input_components = 3;
      info_.in_color_space = JCS_RGB;
      jpeg_set_defaults(&info_);
      jpeg_set_quality(&info_, quality, TRUE);
      info_.comp_info[0].h_samp_factor = horizontal;
      info_.comp_info[0].v_samp_factor = vertical;
      jpeg_start_compress(&info_, TRUE);
      for (int y = 0; y < pixels.height; ++y) {
        auto* row = const_cast<JSAMPROW>(pixels.data + y * pixels.stride);
        jpeg_write_scanlines(&info_, &row, 1);
      }
      jpeg_finish_compress(&info_);
    });
    return {reinterpret_cast<const std::byte*>(buffer_), size_};
  }

 private:
  static constexpr std::string_view kName = "JPEG encoder";
  jpeg_compress_struct info_{};
  JpegErrors errors_;
  unsigned char* buffer_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace

void encode_jpeg(const PixelView& pixels, const EncodeOptions& options,
                 std::vector<std::byte>& out) {
  const std::string_view subsampling = options.subsampling;
  if (subsampling != "420" && subsampling != "422" && subsampling != "444") {
    throw UsageError("subsampling " + std::string(subsampling), "no such chroma subsampling",
                     "choose 420, 422 or 444");
  }
  if (options.jpeg_quality < 1 || options.jpeg_quality > 100) {
    throw UsageError("JPEG quality " + std::to_string(options.jpeg_quality), "not from 1 to 100");
  }
  JpegEncoder encoder;
  const auto file = encoder.encode(pixels, options.jpeg_quality, subsampling == "444" ? 1 : 2,
                                   subsampling == "420" ? 2 : 1);
  out.assign(file.begin(), file.end());
}

}  // namespace feedrate::codec
