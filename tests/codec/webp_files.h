#pragma once
#include "pictures.h"

namespace feedrate::tests {

// WebP files that the program's own encoder does not write.
Bytes lossless_webp(const TestPicture& picture);
// Lossless, each pixel with an alpha of its own, not 0: what nobody sees, the encoder may change.
Bytes webp_with_alpha(const TestPicture& picture);
// An animation of two pictures, each a file of one chunk and of that size.
Bytes animated_webp(codec::PixelSize size, const Bytes& first, const Bytes& second);

}  // namespace feedrate::tests
