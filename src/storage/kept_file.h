#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

namespace feedrate::storage {

// What the kept listings of a user's own folders share: shard_index.h, kept_listing.h. Each is a
// file of lines with tabs between the fields, in the user's cache folder. Thread-safe.

// $XDG_CACHE_HOME or ~/.cache, feedrate/KIND/HASH.tsv: of a folder's samples with these suffixes.
// Empty where neither is set, or the folder cannot be looked at.
std::filesystem::path kept_file_of(std::string_view kind, const std::filesystem::path& folder,
                                   std::span<const std::string_view> suffixes);

// Replaces it by what `write` writes; others see the old file or the new one, whole. Where it
// cannot be written none is kept, nor the old one if that can be removed; nor where the path is
// empty.
void replace_kept_file(const std::filesystem::path& file,
                       const std::function<void(std::ostream&)>& write);

// Sums lines up, so that damage shows.
class LinesHash {
 public:
  // Returns the line.
  std::string_view add(std::string_view line);
  std::string end_line() const;  // what stands behind the last one, with the sum

 private:
  std::uint64_t hash_ = 0;
};
inline constexpr std::string_view kEndOfLines = "end\t";  // what an end line begins with

}  // namespace feedrate::storage
