#include "codec/decoders.h"

#include "codec/any_picture.h"
#include "codec/opencv.h"

namespace feedrate::codec {

DecoderKind decoder_kind_from(std::string_view name) {
  return name == "library"  ? DecoderKind::library
         : name == "opencv" ? DecoderKind::opencv
                            : DecoderKind::own;
}

bool decodes(DecoderKind kind, const Format& format) {
  if (format.name == kAnyPicture) return true;
  if (kind == DecoderKind::library) return format.make_library_decoder != nullptr;
  return kind == DecoderKind::own || opencv_decodes(format);
}

void check_decoder(DecoderKind kind) {
  if (kind == DecoderKind::opencv) check_opencv();
}

std::unique_ptr<Decoder> make_decoder(const Format& format, DecoderKind kind) {
  if (format.name == kAnyPicture) return make_any_picture_decoder(kind);
  if (kind == DecoderKind::library) return format.make_library_decoder();
  if (kind == DecoderKind::opencv) return make_opencv_decoder(format);
  return format.make_decoder();
}

}  // namespace feedrate::codec
