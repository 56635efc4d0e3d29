#include "data_gen/drawn_batch.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "base/in_parallel.h"
#include "base/random.h"
#include "data_gen/picture.h"
#include "data_gen/picture_random.h"
#include "measure/affinity.h"

namespace feedrate::data_gen {
namespace {

constexpr std::size_t kChannels = 3;

std::size_t pixels_of(codec::PixelSize size) {
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
}

// A quarter more, so that windows of one picture differ.
int enlarged(int side) { return side + (side + 3) / 4; }

// So many as take about as long as those of the usual input, 224x224; of small ones no more.
std::size_t pictures_for(codec::PixelSize drawn, std::size_t samples) {
  constexpr std::size_t kLeast = 2, kMost = 16, kPixels = kMost * 280 * 280;
  return std::min(samples, std::clamp(kPixels / pixels_of(drawn), kLeast, kMost));
}

void copy_flipped(const std::uint8_t* from, std::size_t bytes, std::uint8_t* to) {
  for (std::size_t i = 0; i < bytes; i += kChannels)
    std::memcpy(to + i, from + (bytes - kChannels - i), kChannels);
}

// A random window of a picture, flipped or not.
void copy_view(const Picture& from, codec::PixelSize size, Random& random, std::uint8_t* to) {
  const auto below = [&](int n) { return random.below(static_cast<std::uint32_t>(n)); };
  const std::size_t x = below(from.size.width - size.width + 1);
  const std::size_t y = below(from.size.height - size.height + 1);
  const bool flips = random.chance(0.5f);
  const std::size_t row = kChannels * static_cast<std::size_t>(size.width);
  const std::size_t pitch = kChannels * static_cast<std::size_t>(from.size.width);
  const std::uint8_t* in = from.pixels.data() + y * pitch + x * kChannels;
  for (int i = 0; i < size.height; ++i, in += pitch, to += row) {
    if (flips) {
      copy_flipped(in, row, to);
    } else {
      std::memcpy(to, in, row);
    }
  }
}

}  // namespace

void draw_batch(std::uint64_t seed, codec::PixelSize size, std::span<std::uint8_t> pixels) {
  const codec::PixelSize drawn{enlarged(size.width), enlarged(size.height)};
  const std::size_t sample = kChannels * pixels_of(size), samples = pixels.size() / sample;
  const int threads = measure::allowed_cpus();
  const auto never = [] { return false; };
  std::vector<Picture> pictures(pictures_for(drawn, samples));
  const auto draw = [&](std::size_t i) { pictures[i] = synthesise_picture(mix64(seed, i), drawn); };
  in_parallel(pictures.size(), threads, [&] { return draw; }, never);
  const auto copy = [&](std::size_t i) {
    Random random(mix64(~seed, i));
    copy_view(pictures[i % pictures.size()], size, random, pixels.data() + i * sample);
  };
  in_parallel(samples, threads, [&] { return copy; }, never);
}

}  // namespace feedrate::data_gen
