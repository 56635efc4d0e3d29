#include "base/xxh3.h"

#include <xxhash.h>

#include <memory>
#include <new>
#include <vector>

#include "base/whole_file.h"

namespace feedrate {

std::uint64_t xxh3_of(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t xxh3_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

std::string to_hex(std::uint64_t hash) {
  std::string digits(16, '0');
  for (std::size_t i = 16; i-- > 0; hash >>= 4) digits[i] = "0123456789abcdef"[hash & 15];
  return digits;
}

FileHash hash_file(const std::filesystem::path& path, const OnPiece& on_piece) {
  const PosixFile file = PosixFile::open_regular(path);
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       &XXH3_freeState);
  if (!state) throw std::bad_alloc();
  XXH3_64bits_reset(state.get());
  std::vector<std::byte> piece(std::size_t{1} << 18);
  FileHash hash;
  while (const std::size_t n = file.read(piece)) {
    XXH3_64bits_update(state.get(), piece.data(), n);
    hash.bytes += n;
    if (on_piece) on_piece(std::span(piece).first(n));
  }
  hash.xxh3 = XXH3_64bits_digest(state.get());
  return hash;
}

}  // namespace feedrate
