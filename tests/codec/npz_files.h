#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "pictures.h"

namespace feedrate::tests {

// A zip file with arrays in it, as numpy writes it or nearly so.
struct NpzKind {
  bool deflated = false;
  bool streamed = false;  // sizes and checksum stand behind the array, as numpy writes to a pipe
  std::string name = "arr_0.npy";  // of the only array
};
struct NpzArray {
  std::string name;
  Bytes file;  // a whole .npy file
};

// Written apart from the program's own encoder.
Bytes write_npz(const std::vector<NpzArray>& arrays, const NpzKind& kind);
inline Bytes write_npz(const Bytes& array, const NpzKind& kind) {
  return write_npz(std::vector<NpzArray>{{kind.name, array}}, kind);
}
inline Bytes write_npz(const TestPicture& picture, const NpzKind& kind) {
  return write_npz(encode("npy", picture), kind);
}
// A .npy file of a uint8 array of two axes: a mask, no picture.
Bytes flat_array();

}  // namespace feedrate::tests
