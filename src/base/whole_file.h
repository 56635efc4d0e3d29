#pragma once
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

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
    struct stat status{};
    if (::fstat(file.fd_, &status) != 0) fail();
    if (!S_ISREG(status.st_mode)) throw std::system_error(EINVAL, std::generic_category());
    return file;
  }
  PosixFile(PosixFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

 private:
  [[noreturn]] static void fail() { throw std::system_error(errno, std::generic_category()); }
  int fd_;
};

// Syncs the names of a folder's files, so that they survive a power cut. Some network and
// user-space file systems refuse that: there a name is as safe as they make it. Empty, as what a
// bare name has above it: the current folder. Errors: std::system_error.
void sync_folder(const std::filesystem::path& folder);

// Makes a folder, and those above it. Errors: feedrate::Error with the folder, the system's reason
// and the remedy that fits it, or `elsewhere`.
void make_folder(const std::filesystem::path& folder,
                 std::string_view elsewhere = "choose another folder");

// 16 hex digits that no other process has, on no machine and in no container.
std::string unique_name();
// A name beside `path` that no other process takes, on no machine and in no container: of a file
// that is to be renamed to it.
std::filesystem::path own_name_beside(const std::filesystem::path& path);

// Replaces `path` with `bytes`, or leaves it as it was: a temporary file beside it
// ("NAME.partial"), then a rename. `durable`: synced to the device before and after the rename, so
// that the file survives a power cut (see sync_folder). Without it, readers never see half a file
// and a killed writer does no harm, but a power cut may lose it. Errors: feedrate::Error with the
// path and the system's reason (full disk, no permission). One writer per path at a time.
void write_whole_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                      bool durable);
void write_whole_file(const std::filesystem::path& path, std::string_view text, bool durable);

// Refuses what write_whole_file() could not replace, or must not: a folder, a pipe, a device, a
// file in a folder that cannot be written. Leaves nothing behind. Errors: feedrate::Error.
void check_replaceable(const std::filesystem::path& path);

// Replaces what is in `out` with the file's bytes. Errors: std::system_error; anything but a
// regular file is refused.
void read_whole_file(const std::filesystem::path& path, std::vector<std::byte>& out);
std::string read_whole_text(const std::filesystem::path& path);

}  // namespace feedrate
