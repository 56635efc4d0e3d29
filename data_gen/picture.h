#pragma once
#include <cstdint>
#include <vector>

#include "codec/image.h"

namespace feedrate::data_gen {

// An owned RGB picture, 8 bits a channel, interleaved, rows packed.
struct Picture {
  codec::PixelSize size;
  std::vector<std::uint8_t> pixels;  // height * width * 3
  codec::PixelView view() const {
    return {pixels.data(), static_cast<std::ptrdiff_t>(size.width) * 3, size.width, size.height};
  }
};

// A picture with the statistics of photographs (1/f spectrum, occluding edges, smooth regions,
// texture, sensor noise), so that its JPEG bits per pixel, PNG ratio and decode time are near those
// of photographs of the same size. A pure function of its arguments, the same on every machine with
// IEEE arithmetic and the same build; thread-safe. `detail` is how much there is to see in it, next
// to photographs (1): a factor of clutter, texture and noise. The scene behind it stays the same.
Picture synthesise_picture(std::uint64_t seed, codec::PixelSize size, float detail = 1);

}  // namespace feedrate::data_gen
