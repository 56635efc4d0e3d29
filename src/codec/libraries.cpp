#include "codec/libraries.h"

#include <cstdio>  // jpeglib.h needs it

#include <isa-l.h>
#include <jpeglib.h>
#include <spng.h>
#include <webp/decode.h>

#define FEEDRATE_TEXT(x) #x
#define FEEDRATE_TEXT_OF(x) FEEDRATE_TEXT(x)

namespace feedrate::codec {
namespace {

std::string webp_version() {
  const int version = WebPGetDecoderVersion();  // 0x010204: 1.2.4
  return std::to_string(version >> 16) + "." + std::to_string(version >> 8 & 0xff) + "." +
         std::to_string(version & 0xff);
}

}  // namespace

std::string codec_libraries() {
  return "libjpeg-turbo " FEEDRATE_TEXT_OF(LIBJPEG_TURBO_VERSION) ", libspng " +
         std::string(spng_version_string()) +
         ", ISA-L " FEEDRATE_TEXT_OF(ISAL_MAJOR_VERSION) "." FEEDRATE_TEXT_OF(
             ISAL_MINOR_VERSION) "." FEEDRATE_TEXT_OF(ISAL_PATCH_VERSION) ", libwebp " +
         webp_version();
}

}  // namespace feedrate::codec
