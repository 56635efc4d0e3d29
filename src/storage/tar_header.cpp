#include "storage/tar_header.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>

#include "base/error.h"

namespace feedrate::storage {
namespace {

// Where a field lies in the block.
struct Field {
  std::size_t at, bytes;
};
constexpr Field kName{0, 100}, kMode{100, 8}, kUser{108, 8}, kGroup{116, 8}, kSize{124, 12},
    kTime{136, 12}, kSum{148, 8}, kType{156, 1}, kMagic{257, 6}, kVersion{263, 2},
    kPrefix{345, 155};

// The bytes of the block added up, those of the sum itself as spaces. `Byte`: some old programs
// add signed ones.
template <typename Byte>
std::int64_t sum_of(std::span<const std::byte> block) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < kTarBlock; ++i) {
    const bool in_sum = i >= kSum.at && i < kSum.at + kSum.bytes;
    sum += in_sum ? ' ' : static_cast<Byte>(block[i]);
  }
  return sum;
}

// Up to the first NUL.
std::string_view text_of(std::span<const std::byte> block, Field field) {
  const auto* const first = reinterpret_cast<const char*>(&block[field.at]);
  return {first, strnlen(first, field.bytes)};
}

// Octal digits, spaces around them; or, for what these cannot hold, binary behind a first byte of
// 0x80.
std::optional<std::uint64_t> number_of(std::span<const std::byte> block, Field field) {
  std::uint64_t value = 0;
  if (block[field.at] == std::byte{0x80}) {
    for (std::size_t i = 1; i < field.bytes; ++i) {
      if (value >> 55 != 0) return std::nullopt;
      value = value << 8 | std::to_integer<std::uint64_t>(block[field.at + i]);
    }
    return value;
  }
  std::string_view digits = text_of(block, field);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  digits = digits.substr(0, digits.find(' '));
  for (const char digit : digits) {
    if (digit < '0' || digit > '7') return std::nullopt;
    value = value << 3 | static_cast<std::uint64_t>(digit - '0');
  }
  return value;
}

}  // namespace

void write_tar_header(std::string_view name, std::uint64_t bytes, std::span<std::byte> block) {
  const auto put = [&](Field field, std::string_view text) {
    std::ranges::copy(std::as_bytes(std::span(text)), &block[field.at]);
  };
  const auto octal = [&](Field field, int digits, std::uint64_t value) {
    char text[24];
    put(field,
        {text, static_cast<std::size_t>(std::snprintf(text, sizeof text, "%0*llo", digits,
                                                      static_cast<unsigned long long>(value)))});
  };
  // A name of more than 100 bytes is split at a slash.
  std::string_view end = name, prefix;
  if (name.size() > kName.bytes) {
    const std::size_t slash = name.find('/', name.size() - kName.bytes - 1);
    prefix = name.substr(0, std::min(slash, name.size()));
    end = slash == std::string_view::npos ? std::string_view{} : name.substr(slash + 1);
  }
  if (end.empty() || prefix.size() > kPrefix.bytes || bytes >> 33 != 0) {
    throw Error(name, "has a name or a size that a tar file cannot hold", "use --container files");
  }
  put(kName, end);
  octal(kMode, 7, 0644), octal(kUser, 7, 0), octal(kGroup, 7, 0), octal(kSize, 11, bytes);
  octal(kTime, 11, 0);
  put(kType, "0"), put(kMagic, "ustar"), put(kVersion, "00"), put(kPrefix, prefix);
  octal(kSum, 6, static_cast<std::uint64_t>(sum_of<unsigned char>(block)));
  put({kSum.at + 7, 1}, " ");
}

std::string_view parse_tar_header(std::span<const std::byte> block, TarHeader& header) {
  const auto sum = number_of(block, kSum);
  if (!sum || (static_cast<std::int64_t>(*sum) != sum_of<unsigned char>(block) &&
               static_cast<std::int64_t>(*sum) != sum_of<signed char>(block)))
    return "is no tar header, or a damaged one: its checksum is wrong";
  const auto bytes = number_of(block, kSize);
  if (!bytes) return "is a tar header without a size";
  header.bytes = *bytes;
  header.type = static_cast<char>(block[kType.at]);
  // GNU tar, whose magic is another one, keeps other things where ustar has the prefix.
  const bool has_prefix = text_of(block, kMagic) == "ustar" && block[kPrefix.at] != std::byte{};
  header.name.assign(has_prefix ? text_of(block, kPrefix) : std::string_view{});
  if (has_prefix) header.name += '/';
  header.name.append(text_of(block, kName));
  return {};
}

}  // namespace feedrate::storage
