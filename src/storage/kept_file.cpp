#include "storage/kept_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "base/random.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "base/xxh3.h"

namespace feedrate::storage {
namespace {

namespace fs = std::filesystem;

}  // namespace

fs::path kept_file_of(std::string_view kind, const fs::path& folder,
                      std::span<const std::string_view> suffixes) {
  const fs::path cache = cache_folder();
  if (cache.empty()) return {};
  std::error_code error;
  std::string of = fs::canonical(folder, error).string();
  if (error) return {};
  for (const std::string_view suffix : suffixes) of.append("\n").append(suffix);
  return cache / kind / (to_hex(xxh3_of(of)) + ".tsv");
}

void replace_kept_file(const fs::path& file, const std::function<void(std::ostream&)>& write) {
  if (file.empty()) return;
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error) return;
  // Several processes may do so at once.
  const fs::path partial = own_name_beside(file);
  std::ofstream out(partial, std::ios::binary | std::ios::trunc);
  write(out);
  out.close();
  if (out.good()) {
    fs::rename(partial, file, error);
    if (!error) return;
  }
  // Without the old file all is listed anew; with it, a listing that is known to be old.
  std::error_code ignored;
  for (const fs::path& left : {partial, file}) fs::remove(left, ignored);
}

std::optional<std::string_view> LineReads::next() {
  std::size_t searched = next_;
  for (;;) {
    const std::size_t end = read_.find(end_, searched);
    if (end != std::string::npos) {
      const std::string_view line = std::string_view(read_).substr(next_, end - next_);
      next_ = end + 1;
      return line;
    }
    searched = read_.size() - next_;  // read_piece() drops what was returned
    if (!read_piece()) return std::nullopt;
  }
}

void LineReads::go_to(std::uint64_t at) {
  const bool is_read = at >= from_ && at - from_ <= read_.size();
  if (!is_read) read_.clear(), from_ = at;
  next_ = static_cast<std::size_t>(at - from_);
}

// False: the file ends, or cannot be read.
bool LineReads::read_piece() {
  read_.erase(0, next_);
  from_ += next_, next_ = 0;
  const std::size_t before = read_.size();
  read_.resize(before + piece_);
  ssize_t got = 0;
  do {
    got = ::pread(file_, read_.data() + before, piece_, static_cast<off_t>(from_ + before));
  } while (got < 0 && errno == EINTR);
  read_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return got > 0;
}

std::string_view LinesHash::add(std::string_view line) {
  hash_ = mix64(hash_, xxh3_of(line));
  return line;
}

std::string LinesHash::end_line() const { return std::string(kEndOfLines) + to_hex(hash_); }

std::string left_out_line(const std::string& kind, std::uint64_t count) {
  return std::string(kLeftOutLine) + std::to_string(count) + "\t" + kind;
}

bool add_left_out(std::string_view line, LeftOutCount& count) {
  const std::size_t tab = line.find('\t');
  const auto entries = number_from<std::uint64_t>(line.substr(0, tab));
  if (!entries || tab == std::string_view::npos || tab + 1 == line.size()) return false;
  count.add(std::string(line.substr(tab + 1)), *entries);
  return true;
}

}  // namespace feedrate::storage
