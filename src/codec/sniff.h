#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace feedrate::codec {

// What a file is, whatever its name says.
struct FileKind {
  std::string_view name;    // in a sentence: "a GIF"; empty: unknown
  std::string_view format;  // of picture_formats(), which decodes it; empty: none does
};

// By the first bytes, of which 16 are enough. What follows them may be damaged. Thread-safe.
FileKind sniff(std::span<const std::byte> file);

}  // namespace feedrate::codec
