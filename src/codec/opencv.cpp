// The decoder "opencv": OpenCV's imgcodecs bring forty libraries along, so what calls it is a
// module (src/opencv).
#include "codec/opencv.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "codec/checks.h"
#include "codec/opencv_module.h"
#include "codec/scratch.h"
#include "codec/whole_picture.h"

namespace feedrate::codec {
namespace {

DecodeByOpencv* opencv_module() {
  static const auto decode = reinterpret_cast<DecodeByOpencv*>(load_module(
      {.file = "libfeedrate_opencv.so",
       .symbol = kOpencvSymbol,
       .option = "--decoder opencv",
       .absent = "this build has no OpenCV that decodes",
       .build_it = "install libopencv-imgcodecs-dev (scripts/bootstrap --opencv) and build again",
       .find_libraries = "install OpenCV's imgcodecs (Debian, Ubuntu: libopencv-imgcodecs406 or a "
                         "later number)",
       .layout = kOpencvLayout}));
  return decode;
}

// Its window is always the whole picture, at its own size: for WholePictureDecoder.
class OpencvDecoder : public Decoder {
 public:
  // `header` says how large a picture is, before OpenCV allocates anything.
  explicit OpencvDecoder(std::unique_ptr<Decoder> header)
      : decode_(opencv_module()), header_(std::move(header)) {}

  PixelSize open(std::span<const std::byte> encoded, std::string_view name) override {
    name_ = name;
    encoded_ = encoded;
    size_ = header_->open(encoded, name);
    return size_;
  }

  DecodedWindow decode(const Rect& /*window*/, int /*reduction*/) override {
    grow(pixels_,
         3 * static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height));
    if (!decode_(encoded_, size_, pixels_.data())) refuse_picture(name_, "OpenCV cannot decode it");
    return DecodedWindow(packed_view(pixels_.data(), size_));
  }

 private:
  DecodeByOpencv* decode_;
  std::unique_ptr<Decoder> header_;
  std::string name_;
  std::span<const std::byte> encoded_;
  PixelSize size_;
  Scratch pixels_;
};

}  // namespace

bool opencv_decodes(const Format& format) {
  constexpr std::array<std::string_view, 4> kRead = {"jpeg", "png", "png0", "bmp"};
  return std::ranges::find(kRead, format.name) != kRead.end();
}

void check_opencv() { opencv_module(); }

std::unique_ptr<Decoder> make_opencv_decoder(const Format& format) {
  // The library's decoder looks at a header alone; ours compares a PNG's checksums as well.
  auto header = format.make_library_decoder ? format.make_library_decoder() : format.make_decoder();
  return std::make_unique<WholePictureDecoder>(std::make_unique<OpencvDecoder>(std::move(header)));
}

}  // namespace feedrate::codec
