#pragma once
#include <string>

#include "base/random.h"

namespace feedrate::tests {

// The same with flipped bits, bytes too many or too few, or a part of it twice.
inline std::string mutated(std::string bytes, Random& random) {
  const auto place = [&] {
    return static_cast<std::size_t>(random.below(static_cast<int>(bytes.size())));
  };
  switch (random.below(5)) {
    case 0:
      bytes.resize(place());
      break;
    case 1:
      bytes.insert(place(), static_cast<std::size_t>(1 + random.below(64)),
                   static_cast<char>(random.below(256)));
      break;
    case 2:
      bytes += bytes.substr(place());
      break;
    default:
      for (int flips = 1 + random.below(8); flips > 0; --flips)
        bytes[place()] ^= static_cast<char>(1 << random.below(8));
  }
  return bytes;
}

}  // namespace feedrate::tests
