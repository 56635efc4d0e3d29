#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
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

// The lines of an open file from any place on, by reads of a piece each, so that a file of millions
// of lines takes no memory. Several may read one file. Not thread-safe itself.
class LineReads {
 public:
  static constexpr std::size_t kPiece = 64 << 10;

  // `file`: a descriptor, which stays open. `end` is behind each line.
  LineReads(int file, char end, std::uint64_t at = 0, std::size_t piece = kPiece)
      : file_(file), end_(end), piece_(piece), from_(at) {}
  // A line without its end, valid until the next call; none where no end of line follows, or the
  // file cannot be read.
  std::optional<std::string_view> next();
  std::uint64_t at() const { return from_ + next_; }  // where the next line begins
  void go_to(std::uint64_t at);

 private:
  bool read_piece();

  const int file_;
  const char end_;
  const std::size_t piece_;
  std::string read_;  // of the file, from `from_` on
  std::uint64_t from_ = 0;
  std::size_t next_ = 0;  // of `read_`: where the next line begins
};

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
