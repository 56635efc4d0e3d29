#pragma once
#include "codec/codec.h"

namespace feedrate {

// Each in the file of its name; formats.cpp lists them. This is all that the formats share with the
// world: everything else goes through find_picture_format().
Format jpeg_format();
Format png_format();
Format png0_format();
Format bmp_format();
Format npy_format();
Format raw_format();

}  // namespace feedrate
