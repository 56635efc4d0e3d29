#include "npz_files.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include <stdexcept>

namespace feedrate::tests {
namespace {

void append(Bytes& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<std::byte>(value >> 8 * i));
}
void append(Bytes& to, const std::string& text) {
  for (const char c : text) to.push_back(static_cast<std::byte>(c));
}

Bytes deflated(const Bytes& bytes) {
  Bytes in = bytes, out(2 * bytes.size() + 1000);
  isal_zstream stream;
  isal_deflate_stateless_init(&stream);
  stream.end_of_stream = 1;
  stream.flush = NO_FLUSH;
  stream.next_in = reinterpret_cast<std::uint8_t*>(in.data());
  stream.avail_in = static_cast<std::uint32_t>(in.size());
  stream.next_out = reinterpret_cast<std::uint8_t*>(out.data());
  stream.avail_out = static_cast<std::uint32_t>(out.size());
  if (isal_deflate_stateless(&stream) != COMP_OK) throw std::runtime_error("not deflated");
  out.resize(stream.total_out);
  return out;
}

}  // namespace

Bytes write_npz(const std::vector<NpzArray>& arrays, const NpzKind& kind) {
  // Before an array: nothing where it is streamed, else the sizes in 64 bits.
  const std::uint64_t flags = kind.streamed ? 8 : 0, method = kind.deflated ? 8 : 0;
  Bytes file, directory;
  for (const auto& [name, array] : arrays) {
    const std::uint32_t crc32 =
        crc32_gzip_refl(0, reinterpret_cast<const std::uint8_t*>(array.data()), array.size());
    const Bytes stored = kind.deflated ? deflated(array) : array;
    const std::size_t header = file.size();
    append(file, 0x04034b50, 4), append(file, 45, 2), append(file, flags, 2);
    append(file, method, 2), append(file, 0x210000, 4), append(file, kind.streamed ? 0 : crc32, 4);
    append(file, 0xffffffff, 4), append(file, 0xffffffff, 4);
    append(file, name.size(), 2), append(file, 20, 2), append(file, name);
    append(file, 1, 2), append(file, 16, 2);
    append(file, kind.streamed ? 0 : array.size(), 8);
    append(file, kind.streamed ? 0 : stored.size(), 8);
    file.insert(file.end(), stored.begin(), stored.end());
    if (kind.streamed) {
      append(file, 0x08074b50, 4), append(file, crc32, 4);
      append(file, stored.size(), 8), append(file, array.size(), 8);
    }
    append(directory, 0x02014b50, 4), append(directory, 0x032d, 2), append(directory, 45, 2);
    append(directory, flags, 2), append(directory, method, 2), append(directory, 0x210000, 4);
    append(directory, crc32, 4), append(directory, stored.size(), 4);
    append(directory, array.size(), 4), append(directory, name.size(), 2), append(directory, 0, 8);
    append(directory, 0x01800000, 4), append(directory, header, 4), append(directory, name);
  }
  const std::size_t begin = file.size();
  file.insert(file.end(), directory.begin(), directory.end());
  append(file, 0x06054b50, 4), append(file, 0, 4);
  append(file, arrays.size(), 2), append(file, arrays.size(), 2);
  append(file, directory.size(), 4), append(file, begin, 4), append(file, 0, 2);
  return file;
}

Bytes flat_array() {
  Bytes array = encode("npy", make_picture(4, 4));
  auto* const text = reinterpret_cast<char*>(array.data());
  const std::string shape = "(4, 4, 3)";
  const std::size_t at = std::string(text, 128).find(shape);
  if (at != std::string::npos) std::memcpy(text + at, "(4, 12)  ", shape.size());
  return array;
}

}  // namespace feedrate::tests
