#pragma once
#include <cstdint>
#include <memory>
#include <string_view>

#include "codec/codec.h"

namespace feedrate::codec {

// What decodes pictures on the host.
enum class DecoderKind : std::uint8_t {
  own,      // Format::make_decoder: no more of a picture than its window needs
  library,  // Format::make_library_decoder: libjpeg-turbo or libspng, the whole picture
  opencv    // OpenCV's imdecode, the whole picture
};

// The kind of this name ("library", "opencv"); `own` for any other.
DecoderKind decoder_kind_from(std::string_view name);

// Whether files of the format can be decoded by it. `own` decodes all formats.
bool decodes(DecoderKind kind, const Format& format);

// Throws an Error if this build has no such decoder. Thread-safe.
void check_decoder(DecoderKind kind);

// A decoder of files that `decodes` says yes to. Throws an Error as check_decoder. Thread-safe.
std::unique_ptr<Decoder> make_decoder(const Format& format, DecoderKind kind);

}  // namespace feedrate::codec
