#pragma once
#include <memory>

#include "codec/codec.h"

namespace feedrate::codec {

// OpenCV's imdecode, by the module src/opencv. All of this is thread-safe.

// Whether it reads files of the format.
bool opencv_decodes(const Format& format);

// Throws an Error if this build has no such module, or it does not load.
void check_opencv();

// Decodes whole pictures of the format at their own size, EXIF orientation ignored as elsewhere.
// OpenCV does not tell of all damage. Throws as check_opencv.
std::unique_ptr<Decoder> make_opencv_decoder(const Format& format);

}  // namespace feedrate::codec
