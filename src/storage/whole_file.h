#pragma once
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "measure/error.h"

// Files that are read or written as a whole, outside any timed window: manifests, generated
// samples.
namespace feedrate {

// A file descriptor that closes itself. Every failure is a std::system_error of errno.
class PosixFile {
 public:
  PosixFile(const std::filesystem::path& path, int flags)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (fd_ < 0) fail();
  }
  ~PosixFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;

  int get() const { return fd_; }
  void sync() const {
    if (::fsync(fd_) != 0) fail();
  }
  // A network file system may report a full disk only here.
  void close() {
    if (::close(std::exchange(fd_, -1)) != 0) fail();
  }
  // Reads up to the buffer's length; less only at the end of the file.
  std::size_t read(std::span<std::byte> into) const {
    std::size_t done = 0;
    while (done < into.size()) {
      const ssize_t n = ::read(fd_, into.data() + done, into.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail();
      if (n == 0) break;
      done += static_cast<std::size_t>(n);
    }
    return done;
  }
  void write(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail();
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }
  // Refuses folders, pipes and devices; O_NONBLOCK keeps the opening of a pipe from hanging.
  static PosixFile open_regular(const std::filesystem::path& path) {
    PosixFile file(path, O_RDONLY | O_NONBLOCK);
    struct stat status {};
    if (::fstat(file.fd_, &status) != 0) fail();
    if (!S_ISREG(status.st_mode)) throw std::system_error(EINVAL, std::generic_category());
    return file;
  }
  PosixFile(PosixFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

 private:
  [[noreturn]] static void fail() { throw std::system_error(errno, std::generic_category()); }
  int fd_;
};

// Replaces `path` with `bytes`, or leaves it as it was: a temporary file beside it
// ("NAME.partial"), then a rename. `durable`: synced to the device before and after the rename, so
// that it survives a power cut; without it only readers and a killed writer are guarded against.
// Errors: feedrate::Error with the path and the system's reason (full disk, no permission).
// One writer per path at a time.
inline void write_whole_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                             bool durable) {
  const std::filesystem::path partial = path.string() + ".partial";
  try {
    PosixFile file(partial, O_WRONLY | O_CREAT | O_TRUNC);
    file.write(bytes);
    if (durable) file.sync();
    file.close();
    std::filesystem::rename(partial, path);
    if (durable) PosixFile(path.parent_path(), O_RDONLY | O_DIRECTORY).sync();
  } catch (const std::system_error& error) {
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    throw Error(path.string(), "cannot write it: " + error.code().message(),
                "choose a folder that can be written, on a disk with room");
  }
}

// Replaces what is in `out` with the file's bytes. Errors: std::system_error; anything but a
// regular file is refused.
inline void read_whole_file(const std::filesystem::path& path, std::vector<std::byte>& out) {
  const PosixFile file = PosixFile::open_regular(path);
  struct stat status {};
  ::fstat(file.get(), &status);
  out.resize(static_cast<std::size_t>(status.st_size) + 1);  // a byte more shows that it has grown
  out.resize(file.read(out));
}

struct FileHash {
  std::uint64_t bytes = 0;
  std::uint64_t xxh3 = 0;  // XXH3-64
};

// Hashes a file piece by piece. Errors: std::system_error, as read_whole_file.
inline FileHash hash_file(const std::filesystem::path& path) {
  const PosixFile file = PosixFile::open_regular(path);
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       &XXH3_freeState);
  if (!state) throw std::bad_alloc();
  XXH3_64bits_reset(state.get());
  std::vector<std::byte> piece(std::size_t{1} << 18);
  FileHash hash;
  while (const std::size_t n = file.read(piece)) {
    XXH3_64bits_update(state.get(), piece.data(), n);
    hash.bytes += n;
  }
  hash.xxh3 = XXH3_64bits_digest(state.get());
  return hash;
}

}  // namespace feedrate
