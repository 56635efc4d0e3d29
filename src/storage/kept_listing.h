#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/whole_file.h"
#include "storage/dataset.h"
#include "storage/kept_file.h"
#include "storage/left_out.h"
#include "storage/listing.h"

namespace feedrate::storage {

// By which a folder is known to be as it was.
struct FolderState {
  // ns since 1970; unknown where what lies there may change without it.
  std::int64_t changed_ns = kUnknownTime;
  std::int64_t status_ns = kUnknownTime;  // the same of its status: no program sets that back
  std::uint64_t inode = 0;

  bool operator==(const FolderState&) const = default;
};

// A folder that a walk went into.
struct WalkedFolder {
  std::string path{};  // relative to the root
  FolderState state{};
  LeftOutCount left_out{};  // what else lies in it, not below it
};

// Where a kept listing has files; that of files that were listed anew.
inline constexpr std::uint64_t kNotKept = ~std::uint64_t{0};

// A step of a walk through folders. There are two for each folder, so it is small.
struct WalkStep {
  std::unique_ptr<WalkedFolder> into{};  // null: out of the one that was last gone into
  std::size_t files = 0;                 // how many were met before, of the whole walk
  std::uint64_t kept_at = kNotKept;      // of those since the step before: KeptFiles::go_to()
};

// What an earlier listing found in a root's folders, with each folder's state: what lies in a
// folder that still has it is not listed again. Whether a file in it was written again is not
// known: that changes the file alone. Thread-safe once it is made. Its files stay on disk, and are
// read by KeptFiles when they are asked for: there may be millions.
class KeptListing {
 public:
  KeptListing() = default;  // of no folder
  // Of no folder either where there is no such file, or it is damaged. `count` is told that it
  // goes on. `run`: see ListKeeping.
  KeptListing(const std::filesystem::path& file, ListCount& count, const std::string& run);

  std::int64_t since_s() const { return since_s_; }  // when its oldest part was listed, since 1970
  std::size_t folders() const { return places_.size(); }
  // Whether it has a folder as it was in that state; of unknown time: if the same run listed it.
  bool holds(const std::string& folder, const FolderState& state) const;
  // What lies in a folder that it holds, in name order: folders by their paths; of the files before
  // a folder and behind the last one, where the first is and how many follow, if there are any.
  // Returns what was left out there. Throws an Error if the file was changed meanwhile.
  LeftOutCount each(const std::string& folder,
                    const std::function<void(const std::string&)>& on_folder,
                    const std::function<void(std::uint64_t at, std::size_t files)>& on_files) const;

 private:
  friend class KeptFiles;

  // Where a folder's lines are.
  struct Place {
    FolderState state;
    std::uint64_t begin = 0, end = 0;  // of what lies in it; behind its last line
  };

  bool find_places(ListCount& count, const std::string& run);
  int descriptor() const { return file_ ? file_->get() : -1; }

  std::unique_ptr<const PosixFile> file_;  // another listing that replaces it is another file
  std::int64_t since_s_ = 0;
  bool is_of_run_ = false;
  std::unordered_map<std::string, Place> places_;
};

// A file in a kept listing.
struct KeptFile {
  std::string_view name;  // without its folder; valid until the next one is read
  std::uint64_t bytes = 0;
  std::int64_t changed_ns = kUnknownTime;
};

// Reads files of a kept listing, which outlives it. Not thread-safe.
class KeptFiles {
 public:
  explicit KeptFiles(const KeptListing& listing);
  void go_to(std::uint64_t at) { lines_.go_to(at); }  // as KeptListing::each() gave it
  // The next one of that folder. Throws an Error if the listing was changed meanwhile.
  KeptFile next();

 private:
  LineReads lines_;
};

// How a listing came about.
struct ListedHow {
  std::uint64_t files = 0;
  std::size_t folders = 0, listed_anew = 0;  // of these folders, those that were not as kept
  std::size_t kept_folders = 0;              // some of which may be gone
  std::int64_t since_s = 0;                  // see KeptListing
  double seconds = 0;

  bool is_as_kept() const { return listed_anew == 0 && kept_folders == folders; }
  // "listed 1,300,000 files in 41 s (31,707 files/s)", "listing of 1,300,000 files kept from
  // 2026-11-30, checked in 0.3 s; 2 of 1,000 folders were listed anew".
  std::string text() const;
};

// Where the listing of a folder's samples with these suffixes is kept; see kept_file_of().
std::filesystem::path kept_listing_of(const std::filesystem::path& folder,
                                      std::span<const std::string_view> suffixes);

// When, and by which run, a listing was made that is to be kept.
struct ListedWhen {
  std::int64_t since_s = 0;   // its oldest part, since 1970; 0: now
  std::int64_t began_ns = 0;  // this listing, since 1970
  std::string run{};          // see ListKeeping
};

// Keeps it: `samples` in the order of the steps. A folder that was changed shortly before is kept
// without its time: what comes into it within the same tick of the file system's clock leaves no
// trace.
void keep_listing(const std::filesystem::path& file, const ListedWhen& when,
                  std::span<const WalkStep> steps, std::span<const SampleFile> samples);

}  // namespace feedrate::storage
