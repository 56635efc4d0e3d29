#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "storage/left_out.h"

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

// "- COUNT KIND": how many of a kind were left out. What such a line begins with, the line, and the
// count that what is behind its beginning is added to; false where that says none.
inline constexpr std::string_view kLeftOutLine = "-\t";
std::string left_out_line(const std::string& kind, std::uint64_t count);
bool add_left_out(std::string_view line, LeftOutCount& count);

}  // namespace feedrate::storage
