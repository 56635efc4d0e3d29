#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/placed_files.h"

namespace feedrate::storage {

// A file in a tar.
struct TarMember {
  std::string name;          // a path that stays inside its folder, without "./" before it
  std::uint64_t offset = 0;  // at which its bytes begin in the tar
  std::uint64_t bytes = 0;
};

// Goes through a tar from header to header: ustar, GNU's long names, pax. It reads nothing else, a
// few kilobytes at once. Errors, of all functions: an Error naming the tar, what is wrong with it,
// and the remedy: it cannot be read, is compressed, damaged or cut off, or holds a sparse file or a
// path out of its folder.
class TarWalk {
 public:
  explicit TarWalk(const std::string& path);

  // The next file; false at the end. Folders, links and devices are passed over.
  bool next(TarMember& member);
  // A member's bytes, few of them; valid until the next call of anything.
  std::string_view text_of(const TarMember& member);

 private:
  // What an extended header says of the member behind it.
  struct Extended {
    std::string name;  // empty: nothing
    std::optional<std::uint64_t> bytes;
  };

  void refuse_compressed();
  bool is_at_end(bool awaits_member);
  TarMember read_header(const Extended& extended, char& type);
  // Whether the member is an extended header.
  bool take_extended(const TarMember& member, char type, Extended& extended);
  void take_pax(const TarMember& member, Extended& extended);
  void check_name(std::string& name) const;
  std::span<const std::byte> read(std::uint64_t offset, std::uint64_t bytes);
  [[noreturn]] void refuse(const std::string& reason) const;
  [[noreturn]] void refuse_at(std::uint64_t offset, int error) const;  // errno of a read
  [[noreturn]] void refuse_cut(const std::string& where) const;
  [[noreturn]] void refuse_sparse(const std::string& name) const;

  const std::string path_;
  const ReadOnlyFile file_;
  std::uint64_t size_ = 0;
  std::uint64_t at_ = 0;             // of the next header
  std::vector<std::byte> buffer_;    // a part of the file
  std::uint64_t buffer_begins_ = 0;  // there
};

}  // namespace feedrate::storage
