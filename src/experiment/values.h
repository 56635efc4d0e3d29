#pragma once
#include <string>
#include <string_view>

#include "codec/image.h"

namespace feedrate {

// "500x375" or "224" (224x224). Sides 1..8192. Throws UsageError.
PixelSize pixel_size_from(std::string_view text);
std::string to_string(PixelSize size);  // "500x375"

}  // namespace feedrate
