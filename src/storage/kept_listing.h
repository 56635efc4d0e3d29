#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/dataset.h"
#include "storage/left_out.h"
#include "storage/listing.h"

namespace feedrate::storage {

// A sample of a folder of the user's own, which is a file.
struct ListedFile {
  std::string path;  // relative to the root
  std::uint64_t bytes = 0;
  std::int64_t changed_ns = kUnknownTime;  // until it was looked at
};

// By which a folder is known to be as it was.
struct FolderState {
  // ns since 1970; unknown where what lies there may change without it.
  std::int64_t changed_ns = kUnknownTime;
  std::int64_t status_ns = kUnknownTime;  // the same of its status: no program sets that back
  std::uint64_t inode = 0;

  bool operator==(const FolderState&) const = default;
};

// A step of a walk through folders: into one, or out of the one that was last gone into.
struct WalkStep {
  std::string folder{};  // relative to the root; of a step into it
  bool leaves = false;
  FolderState state{};      // of a folder that is gone into
  std::size_t files = 0;    // how many were met before, of the whole walk
  LeftOutCount left_out{};  // what else lies in that folder, not below it
};

// What an earlier listing found in a root's folders, with each folder's state: what lies in a
// folder that still has it is not listed again. Whether a file in it was written again is not
// known: that changes the file alone. Thread-safe once it is read.
class KeptListing {
 public:
  KeptListing() = default;  // of no folder
  // Of no folder either where there is no such file, or it is damaged. `count` is told that it
  // goes on.
  KeptListing(const std::filesystem::path& file, ListCount& count);

  std::int64_t since_s() const { return since_s_; }  // when its oldest part was listed, since 1970
  std::size_t folders() const { return places_.size(); }
  // Whether it has a folder as it was in that state.
  bool holds(const std::string& folder, const FolderState& state) const;
  // What lies in a folder that it holds, in name order: folders by their paths, files with sizes
  // and times. Returns what was left out there.
  LeftOutCount each(const std::string& folder,
                    const std::function<void(const std::string&)>& on_folder,
                    const std::function<void(ListedFile)>& on_file) const;

 private:
  // Where a folder's lines are.
  struct Place {
    FolderState state;
    std::size_t begin = 0, end = 0;  // of what lies in it; behind its last line
  };

  std::string_view text() const;
  bool find_places(ListCount& count);

  std::vector<std::byte> bytes_;  // of the file: it is far smaller than what it says
  std::int64_t since_s_ = 0;
  std::unordered_map<std::string, Place> places_;
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

// Where the listing of a folder's samples with these suffixes is kept; see kept_file_of(). Empty as
// well on a FUSE file system: a folder's times need not tell there what came into it (s3fs). Tests
// give another folder as `proc`.
std::filesystem::path kept_listing_of(const std::filesystem::path& folder,
                                      std::span<const std::string_view> suffixes,
                                      const std::filesystem::path& proc = "/proc");

// Keeps it: `samples` in the order of the steps. `since_s`: when its oldest part was listed, 0:
// now; `began_ns`: when this listing began, since 1970. A folder that was changed shortly before is
// kept without its time: what comes into it within the same tick of the file system's clock leaves
// no trace.
void keep_listing(const std::filesystem::path& file, std::int64_t since_s, std::int64_t began_ns,
                  std::span<const WalkStep> steps, std::span<const SampleFile> samples);

}  // namespace feedrate::storage
