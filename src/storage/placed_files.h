#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/dataset.h"

namespace feedrate::storage {

// Where the bytes of a variant's samples lie, for whatever reads them.
struct Placement {
  std::string folder;               // with a slash at its end: what stands before SampleFile::path
  std::vector<std::string> packed;  // the paths of the files that hold the samples, by
                                    // SampleFile::shard; empty: each sample is a file of its own,
                                    // below `folder`
  std::string remedy;               // for a sample that is not as the manifest says
  std::uint64_t largest = 0;        // bytes of the largest sample
};

// A file that is read from, closed at the end. Errors: feedrate::Error naming `path`.
class ReadOnlyFile {
 public:
  // `flags`: beside O_RDONLY and O_CLOEXEC.
  explicit ReadOnlyFile(const std::string& path, int flags = 0);
  ~ReadOnlyFile();
  ReadOnlyFile(ReadOnlyFile&& other) noexcept;
  ReadOnlyFile& operator=(ReadOnlyFile&&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Throws the Error of a file that cannot be opened for `error`, an errno.
[[noreturn]] void refuse_opening(const std::string& name, int error);
// Throws the Error of a file whose file system does not take O_DIRECT.
[[noreturn]] void refuse_direct(const std::string& name);

// A placement's files, for one engine of one worker: packed ones stay open, the others are the
// engine's to open. Not thread-safe.
class PlacedFiles {
 public:
  PlacedFiles(Placement placement, int flags);

  bool apart() const { return placement_.packed.empty(); }  // each sample is a file
  const Placement& placement() const { return placement_; }
  // The file that holds the sample; valid until the next call.
  const std::string& path_of(const SampleFile& sample);
  // The open packed file that holds the sample.
  int packed_file(const SampleFile& sample) const { return open_[sample.shard].get(); }
  std::span<const ReadOnlyFile> open() const { return open_; }
  // Where the sample begins in its file.
  std::uint64_t offset_of(const SampleFile& sample) const { return apart() ? 0 : sample.offset; }
  // What an error names: the sample, and the packed file where there is one.
  std::string name_of(const SampleFile& sample) const;

  // Throws the Error of a sample of which `found` bytes were there: too few, or more than it has.
  [[noreturn]] void refuse_length(const SampleFile& sample, std::uint64_t found);
  // Throws an Error if a file of its own has another time of change than when it was listed; to be
  // asked once it was read, when even a network file system has its time at hand. `file`: open; -1:
  // it is found by its path.
  void check_unchanged(const SampleFile& sample, int file = -1);
  // Throws the Error of a read that failed with `error`, an errno.
  [[noreturn]] void refuse_read(const SampleFile& sample, std::uint64_t offset, int error) const;

 private:
  const Placement placement_;
  std::vector<ReadOnlyFile> open_;
  std::string path_;  // reused, so that a read allocates nothing
};

}  // namespace feedrate::storage
