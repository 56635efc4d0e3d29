#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace feedrate::storage {

// A tar file is made of such blocks: a header, the member's bytes filled up to whole blocks, the
// next header; two blocks of zeros end it.
inline constexpr std::size_t kTarBlock = 512;
constexpr std::uint64_t whole_tar_blocks(std::uint64_t bytes) {
  return (bytes + kTarBlock - 1) / kTarBlock * kTarBlock;
}

// What stands before a member's bytes.
struct TarHeader {
  std::string name;  // as it stands there
  std::uint64_t bytes = 0;
  char type = '0';  // '0': a file; see POSIX's pax, ustar
};

// Writes a file's header as POSIX.1-1988 has it (ustar) to `block`, which comes as zeros. Throws an
// Error naming a member whose name or size it cannot hold.
void write_tar_header(std::string_view name, std::uint64_t bytes, std::span<std::byte> block);

// Reads a header as ustar, GNU tar and older ones have it; names and sizes that stand before it
// (pax, GNU) are not its matter. Returns what is wrong with the block, or nothing.
std::string_view parse_tar_header(std::span<const std::byte> block, TarHeader& header);

}  // namespace feedrate::storage
