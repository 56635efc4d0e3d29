#pragma once
#include <cstdint>
#include <span>

#include "codec/image.h"

namespace feedrate::data_gen {

// Fills `pixels` with pictures of `size`, as many as have room: uint8, RGB, one behind the other.
// Each is a random window of one of a few that are drawn, flipped or not. A pure function of its
// arguments, as synthesise_picture() is; thread-safe. Uses all CPUs that the process may use.
void draw_batch(std::uint64_t seed, codec::PixelSize size, std::span<std::uint8_t> pixels);

}  // namespace feedrate::data_gen
