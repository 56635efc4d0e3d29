#include "data_gen/encode_to_size.h"

#include <string>

#include "base/error.h"
#include "data_gen/picture_random.h"

namespace feedrate::data_gen {
namespace {

constexpr int kWorst = 1, kBest = 100;  // libjpeg's qualities

}  // namespace

void encode_to_size(const codec::PixelView& pixels, codec::EncodeOptions encode, std::int64_t bytes,
                    std::int64_t index, std::vector<std::byte>& out) {
  const codec::Format& jpeg = *codec::find_picture_format("jpeg");
  const auto bytes_at = [&](int quality) {
    encode.jpeg_quality = quality;
    jpeg.encode(pixels, encode, out);
    return static_cast<std::int64_t>(out.size());
  };
  // below < bytes <= above, at two qualities that become neighbours.
  int low = kWorst, high = kBest;
  std::int64_t below = bytes_at(low), above = bytes_at(high);
  if (bytes < below || bytes > above) {
    throw Error("sample " + std::to_string(index),
                "cannot be a JPEG of " + std::to_string(bytes) +
                    " bytes: " + codec::to_string({pixels.width, pixels.height}) + " pixels take " +
                    std::to_string(below) + " to " + std::to_string(above),
                "choose another --image-size or --detail");
  }
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    const std::int64_t there = bytes_at(middle);
    (there < bytes ? low : high) = middle;
    (there < bytes ? below : above) = there;
  }
  Random random(static_cast<std::uint64_t>(index) ^ 0x6279746573u);
  const auto share = static_cast<float>(bytes - below) / static_cast<float>(above - below);
  bytes_at(random.chance(share) ? high : low);
}

}  // namespace feedrate::data_gen
