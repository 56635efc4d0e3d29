#include "codec/sniff.h"

#include <algorithm>

namespace feedrate::codec {
namespace {

using std::string_view_literals::operator""sv;

struct Signature {
  std::string_view bytes;  // that the file begins with; '?': any byte
  FileKind kind;
};

constexpr FileKind kTiff{"a TIFF", ""}, kHeif{"a HEIC or HEIF picture", ""}, kAvif{"an AVIF", ""};

// A zip file is an npz where it holds an array, which its decoder looks for.
constexpr Signature kSignatures[] = {
    {"\xff\xd8\xff"sv, {"a JPEG", "jpeg"}},
    {"\x89PNG\r\n\x1a\n"sv, {"a PNG", "png"}},
    {"RIFF????WEBP"sv, {"a WebP", "webp"}},
    {"GIF87a"sv, {"a GIF", ""}},
    {"GIF89a"sv, {"a GIF", ""}},
    {"II*\0"sv, kTiff},
    {"MM\0*"sv, kTiff},
    {"II+\0"sv, kTiff},  // BigTIFF
    {"MM\0+"sv, kTiff},
    {"????ftypavif"sv, kAvif},
    {"????ftypavis"sv, kAvif},
    {"????ftyphei"sv, kHeif},  // heic, heix, heim, heis
    {"????ftyphev"sv, kHeif},  // hevc, hevx
    {"????ftypmif1"sv, kHeif},
    {"????ftypmsf1"sv, kHeif},
    {"\x93NUMPY"sv, {"an npy", "npy"}},
    {"PK\3\4"sv, {"a zip file", "npz"}},
    {"FRRAW001"sv, {"a raw picture", "raw"}},
    {"BM"sv, {"a BMP", "bmp"}},
};

bool begins_with(std::span<const std::byte> file, std::string_view signature) {
  if (file.size() < signature.size()) return false;
  return std::ranges::equal(signature, file.first(signature.size()), [](char wanted, std::byte b) {
    return wanted == '?' || b == static_cast<std::byte>(wanted);
  });
}

}  // namespace

FileKind sniff(std::span<const std::byte> file) {
  for (const Signature& signature : kSignatures)
    if (begins_with(file, signature.bytes)) return signature.kind;
  return {};
}

}  // namespace feedrate::codec
