#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "storage/storage.h"

namespace feedrate::storage {

// A file that is read from, closed at the end. Errors: feedrate::Error naming `path`.
class ReadOnlyFile {
 public:
  explicit ReadOnlyFile(const std::string& path);
  ~ReadOnlyFile();
  ReadOnlyFile(const ReadOnlyFile&) = delete;
  ReadOnlyFile& operator=(const ReadOnlyFile&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Reads the request's sample, which begins at `offset`, to the two places that the request names,
// by one system call where the kernel gives all at once; `one_more`: asks for a byte more than the
// sample has. Returns the bytes that there were, at most one more than wanted. Errors:
// feedrate::Error naming `path` and the place.
std::uint64_t read_parts(const ReadOnlyFile& file, const std::string& path, std::uint64_t offset,
                         const ReadRequest& request, bool one_more);

}  // namespace feedrate::storage
