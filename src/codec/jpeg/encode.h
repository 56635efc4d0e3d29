#pragma once
#include <cstddef>
#include <vector>

#include "codec/codec.h"

namespace feedrate::codec {

// The encoding half of the format "jpeg". Errors: UsageError for a quality or a
// subsampling that does not exist.
void encode_jpeg(const PixelView& pixels, const EncodeOptions& options,
                 std::vector<std::byte>& out);

}  // namespace feedrate::codec
