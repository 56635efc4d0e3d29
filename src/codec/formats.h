#pragma once
#include "codec/codec.h"

namespace feedrate::codec {

// Each is in the file of its name; formats.cpp lists them. All other code uses
// find_picture_format().
Format jpeg_format();
Format png_format();
Format png0_format();
Format bmp_format();
Format webp_format();
Format npy_format();
Format npz_format();
Format raw_format();

}  // namespace feedrate::codec
