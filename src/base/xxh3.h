#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace feedrate {

// XXH3-64, the checksum of files, lines and cells. Thread-safe.
std::uint64_t xxh3_of(std::span<const std::byte> bytes);
std::uint64_t xxh3_of(std::string_view text);
std::string to_hex(std::uint64_t hash);  // 16 hex digits

struct FileHash {
  std::uint64_t bytes = 0;
  std::uint64_t xxh3 = 0;
};

// Told each piece of a file, in their order; valid during the call.
using OnPiece = std::function<void(std::span<const std::byte>)>;
// Hashes a file piece by piece, and calls `on_piece` (may be empty) after each. Errors:
// std::system_error; anything but a regular file is refused.
FileHash hash_file(const std::filesystem::path& path, const OnPiece& on_piece = {});

}  // namespace feedrate
