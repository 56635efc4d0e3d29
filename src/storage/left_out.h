#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace feedrate::storage {

// Which names a listing of a user's own folder leaves out, and how it counts them.

// Whether every listing leaves a file or folder of that name out: it is hidden by a leading dot
// (".git", ".ipynb_checkpoints", "._a.jpg"), or a system keeps it beside the user's files
// ("__MACOSX", "Thumbs.db", "lost+found").
bool is_hidden(std::string_view name);

// "webp" of "b.WEBP": the ending by which a file is a picture, of whatever format. Empty: it is
// none. Valid for ever.
std::string_view picture_ending(std::string_view name);

// Kinds of which one is said otherwise than several: LeftOutCount::text() knows both.
inline constexpr const char *kDanglingLinks = "links that lead nowhere",
                            *kEmptyClasses = "class folders without pictures",
                            *kEmptyShards = "shards without pictures",
                            *kBesideShards = "pictures beside the shards",
                            *kDottedNames = "with further dots in their names";
inline constexpr const char *kTarFiles = "tar", *kHidden = "hidden";

// How many entries (files, folders, shards) were left out, by kind: "hidden", "webp", "other".
class LeftOutCount {
 public:
  void add(const std::string& kind, std::uint64_t count = 1) {
    if (count > 0) of_kind_[kind] += count;
  }
  void add(const LeftOutCount& other) {
    for (const auto& [kind, count] : other.of_kind_) add(kind, count);
  }
  bool empty() const { return of_kind_.empty(); }
  const std::map<std::string, std::uint64_t>& of_kind() const { return of_kind_; }
  // By which kind a folder is known: not kHidden. Empty: nothing else was left out.
  std::string most_frequent() const;
  // "31 (30 webp, 1 gif)", the most frequent first; "1 (1 shard without pictures)". Kinds beyond
  // `most` are counted together: "2 of other kinds". Empty: nothing was left out.
  std::string text(std::size_t most = 100) const;

 private:
  std::map<std::string, std::uint64_t> of_kind_;
};

}  // namespace feedrate::storage
