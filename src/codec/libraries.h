#pragma once
#include <string>

namespace feedrate::codec {

// The libraries that decode, with their versions: "libjpeg-turbo 2.1.5, libspng 0.7.3,
// ISA-L 2.30.0, libwebp 1.2.4".
std::string codec_libraries();

}  // namespace feedrate::codec
