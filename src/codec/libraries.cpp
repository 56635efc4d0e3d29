#include "codec/libraries.h"

#include <cstdio>  // jpeglib.h needs it

#include <isa-l.h>
#include <jpeglib.h>
#include <spng.h>

#define FEEDRATE_TEXT(x) #x
#define FEEDRATE_TEXT_OF(x) FEEDRATE_TEXT(x)

namespace feedrate::codec {

std::string codec_libraries() {
  return "libjpeg-turbo " FEEDRATE_TEXT_OF(LIBJPEG_TURBO_VERSION) ", libspng " +
         std::string(spng_version_string()) +
         ", ISA-L " FEEDRATE_TEXT_OF(ISAL_MAJOR_VERSION) "." FEEDRATE_TEXT_OF(
             ISAL_MINOR_VERSION) "." FEEDRATE_TEXT_OF(ISAL_PATCH_VERSION);
}

}  // namespace feedrate::codec
