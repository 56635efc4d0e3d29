#pragma once
#include <cstdint>

namespace feedrate::device {

// Who decoded the pictures of encoded batches for a device.
struct DecodedBy {
  std::int64_t engine = 0;      // the GPU's JPEG engine
  std::int64_t processors = 0;  // its ordinary ones
  std::int64_t host = 0;        // the thread that feeds it
};

// What has come to a device from the host. A batch counts when it is there.
struct Arrivals {
  std::int64_t batches = 0;
  std::int64_t busy_ns =
      0;  // time of copying them, or of decoding them on the way; without waiting
  DecodedBy decoded;

  Arrivals& operator+=(const Arrivals& more) { return combine(more, 1); }
  Arrivals& operator-=(const Arrivals& earlier) { return combine(earlier, -1); }

 private:
  Arrivals& combine(const Arrivals& other, std::int64_t sign) {
    batches += sign * other.batches;
    busy_ns += sign * other.busy_ns;
    decoded.engine += sign * other.decoded.engine;
    decoded.processors += sign * other.decoded.processors;
    decoded.host += sign * other.decoded.host;
    return *this;
  }
};

}  // namespace feedrate::device
