#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/codec.h"

namespace feedrate::data_gen {

// A JPEG of about `bytes`, by its quality: of the two qualities on both sides of it, one is drawn
// (by `index`) such that the mean over many samples is `bytes`. Replaces what is in `out`.
// Thread-safe. Errors: feedrate::Error where no quality makes the file so large or so small.
void encode_to_size(const codec::PixelView& pixels, codec::EncodeOptions encode, std::int64_t bytes,
                    std::int64_t index, std::vector<std::byte>& out);

}  // namespace feedrate::data_gen
