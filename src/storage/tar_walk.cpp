#include "storage/tar_walk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file_remedy.h"
#include "base/text.h"
#include "storage/listing.h"
#include "storage/tar_header.h"

namespace feedrate::storage {
namespace {

constexpr std::uint64_t kAtOnce = 4096;  // a small member and both headers around it
// A header that says more than names, sizes and times is no tar of samples, and is not kept.
constexpr std::uint64_t kMostExtended = std::uint64_t{1} << 20;
constexpr std::size_t kLongestName = 4096;
constexpr std::string_view kAgain = "copy or make it again, or take it out of the folder";

// How compressed files begin. (bzip2 does with letters, as a name may.)
constexpr struct {
  std::string_view magic, name;
} kCompressions[] = {{"\x1f\x8b", "gzip"},
                     {"\x28\xb5\x2f\xfd", "zstd"},
                     {"\xfd\x37zXZ", "xz"},
                     {"\x04\x22\x4d\x18", "lz4"}};

bool is_file(char type) { return type == '0' || type == '\0' || type == '7'; }
// Links, devices, folders and pipes: whatever their size says, none follows.
bool has_bytes(char type) { return type < '1' || type > '6'; }
bool is_extended(char type) {
  return type == 'x' || type == 'X' || type == 'g' || type == 'L' || type == 'K';
}

std::string shown(std::string_view name) { return line_of_utf8(name, 200); }

bool leads_out(std::string_view path) {
  for (bool more = true; more;) {
    const std::size_t slash = path.find('/');
    if (path.substr(0, slash) == "..") return true;
    more = slash != std::string_view::npos;
    if (more) path.remove_prefix(slash + 1);
  }
  return false;
}

}  // namespace

TarWalk::TarWalk(const std::string& path) : path_(path), file_(path) {
  struct stat info{};
  if (fstat(file_.get(), &info) != 0) throw Error(path_, std::strerror(errno));
  size_ = static_cast<std::uint64_t>(info.st_size);
  posix_fadvise(file_.get(), 0, 0, POSIX_FADV_RANDOM);  // the next header lies behind a picture
  refuse_compressed();
}

bool TarWalk::next(TarMember& member) {
  Extended extended;
  for (bool awaits_member = false; !is_at_end(awaits_member);) {
    char type = 0;
    member = read_header(extended, type);
    awaits_member = take_extended(member, type, extended);
    if (awaits_member) continue;
    if (type == 'S') refuse_sparse(member.name);
    extended = {};
    if (!is_file(type) || member.name.ends_with('/')) continue;  // older tars end a folder so
    check_name(member.name);
    return true;
  }
  return false;
}

std::string_view TarWalk::text_of(const TarMember& member) {
  const auto bytes = read(member.offset, member.bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void TarWalk::refuse_compressed() {
  const std::uint64_t bytes = std::min<std::uint64_t>(size_, 8);
  const std::string_view begin = text_of({.bytes = bytes});
  for (const auto& [magic, name] : kCompressions) {
    if (!begin.starts_with(magic)) continue;
    throw Error(path_, "is compressed (" + std::string(name) + ")",
                "unpack it: samples are read where they lie");
  }
}

// Two blocks of zeros, of which programs look at the first, or the end of the file: not all
// programs write the blocks, and tar does without.
bool TarWalk::is_at_end(bool awaits_member) {
  if (at_ == size_ && !awaits_member) return true;
  if (size_ - at_ < kTarBlock) refuse_cut("within a header");
  return std::ranges::all_of(read(at_, kTarBlock), [](std::byte b) { return b == std::byte{}; });
}

TarMember TarWalk::read_header(const Extended& extended, char& type) {
  TarHeader header;
  const std::string_view wrong = parse_tar_header(read(at_, kTarBlock), header);
  if (!wrong.empty()) refuse("byte " + std::to_string(at_) + " " + std::string(wrong));
  type = header.type;
  TarMember member{std::move(header.name), at_ + kTarBlock, has_bytes(type) ? header.bytes : 0};
  if (!is_extended(type) && !extended.name.empty()) member.name = extended.name;
  if (!is_extended(type) && has_bytes(type) && extended.bytes) member.bytes = *extended.bytes;
  if (member.bytes > size_ - member.offset) {
    refuse_cut("at byte " + std::to_string(size_) + ", within the " + std::to_string(member.bytes) +
               " bytes of " + shown(member.name));
  }
  at_ = std::min(member.offset + whole_tar_blocks(member.bytes), size_);
  return member;
}

bool TarWalk::take_extended(const TarMember& member, char type, Extended& extended) {
  if (!is_extended(type)) return false;
  if (member.bytes > kMostExtended) refuse("holds an extended header of more than 1 MiB");
  if (type == 'x' || type == 'X') take_pax(member, extended);
  if (type == 'L') {
    const std::string_view name = text_of(member);
    extended.name = name.substr(0, name.find('\0'));
  }
  return true;  // 'K': what a link leads to; 'g': of all members, such as comments
}

// "LENGTH KEY=VALUE" and a newline, of LENGTH bytes in all, one after the other.
void TarWalk::take_pax(const TarMember& member, Extended& extended) {
  for (std::string_view text = text_of(member); !text.empty();) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::uint64_t length = number_from<std::uint64_t>(text.substr(0, space)).value_or(0);
    if (length < space + 2 || length > text.size() || text[length - 1] != '\n')
      refuse("holds a damaged extended header at byte " + std::to_string(member.offset));
    const std::string_view record = text.substr(space + 1, length - space - 2);
    const std::size_t equals = std::min(record.find('='), record.size());
    const std::string_view key = record.substr(0, equals),
                           value = record.substr(std::min(equals + 1, record.size()));
    if (key == "path") extended.name = value;
    if (key == "size") extended.bytes = number_from<std::uint64_t>(value);
    if (key.starts_with("GNU.sparse.")) refuse_sparse(extended.name);
    text.remove_prefix(length);
  }
}

void TarWalk::check_name(std::string& name) const {
  while (name.starts_with("./")) name.erase(0, 2);
  std::string wrong;
  if (name.empty() || name.size() > kLongestName) wrong = "an empty name, or one that is too long";
  if (name.starts_with('/')) wrong = "an absolute path: " + shown(name);
  if (leads_out(name)) wrong = "a path with \"..\": " + shown(name);
  if (has_control_characters(name)) wrong = "a name with control characters: " + shown(name);
  if (wrong.empty()) return;
  throw Error(path_, "holds " + wrong, "pack the folder anew: `tar -C FOLDER -cf NAME.tar .`");
}

std::span<const std::byte> TarWalk::read(std::uint64_t offset, std::uint64_t bytes) {
  if (offset < buffer_begins_ || offset + bytes > buffer_begins_ + buffer_.size()) {
    buffer_.resize(std::min(std::max(bytes, kAtOnce), size_ - offset));
    buffer_begins_ = offset;
    std::uint64_t done = 0;
    while (done < buffer_.size()) {
      const ssize_t n = pread(file_.get(), buffer_.data() + done, buffer_.size() - done,
                              static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) refuse_at(offset + done, errno);
      if (n == 0) refuse_cut("at byte " + std::to_string(offset + done) + " by now");
      done += static_cast<std::uint64_t>(n);
    }
  }
  return std::span(buffer_).subspan(offset - buffer_begins_, bytes);
}

void TarWalk::refuse(const std::string& reason) const { throw Error(path_, reason, kAgain); }
void TarWalk::refuse_at(std::uint64_t offset, int error) const {
  refuse_reading(path_, std::string(std::strerror(error)) + " at byte " + std::to_string(offset),
                 error, kAgain);
}
void TarWalk::refuse_cut(const std::string& where) const { refuse("is cut off " + where); }
void TarWalk::refuse_sparse(const std::string& name) const {
  throw Error(path_, "holds a sparse file" + (name.empty() ? "" : ": " + shown(name)),
              "pack the folder anew, without --sparse");
}

}  // namespace feedrate::storage
