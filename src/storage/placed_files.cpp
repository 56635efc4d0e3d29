#include "storage/placed_files.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/file_remedy.h"
#include "storage/listing.h"

namespace feedrate::storage {
namespace {

constexpr std::string_view kVerify = "check the dataset with `feedrate verify`";

void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Each worker keeps all packed files open. A process may usually open 1024 files, and many more as
// soon as it asks.
int open_file(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  if (file >= 0 || errno != EMFILE) return file;
  raise_file_limit();
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
}

std::optional<std::int64_t> changed_of(int file) {
  struct stat info;
  if (fstat(file, &info) != 0) return std::nullopt;
  return changed_ns(info);
}
// No server is asked again: whoever has just opened the file has its time at hand.
std::optional<std::int64_t> changed_of(const std::string& path) {
  struct statx info;
  if (statx(AT_FDCWD, path.c_str(), AT_STATX_DONT_SYNC, STATX_MTIME, &info) != 0)
    return std::nullopt;
  return ns_of({info.stx_mtime.tv_sec, info.stx_mtime.tv_nsec});
}

}  // namespace

ReadOnlyFile::ReadOnlyFile(const std::string& path, int flags) : fd_(open_file(path, flags)) {
  if (fd_ >= 0) return;
  if (errno == EINVAL && (flags & O_DIRECT)) refuse_direct(path);
  refuse_opening(path, errno);
}
void refuse_opening(const std::string& name, int error) {
  if (error == EMFILE) {
    throw UnreadableError(
        name, std::strerror(error),
        "allow this process more (`ulimit -n`), use fewer --workers, or larger shards");
  }
  refuse_reading(name, std::strerror(error), error, kVerify);
}

ReadOnlyFile::~ReadOnlyFile() {
  if (fd_ >= 0) close(fd_);
}
ReadOnlyFile::ReadOnlyFile(ReadOnlyFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

void refuse_direct(const std::string& name) {
  throw Error(name, "its file system does not take O_DIRECT",
              "use --io buffered, or put the dataset on a disk's file system");
}

PlacedFiles::PlacedFiles(Placement placement, int flags) : placement_(std::move(placement)) {
  for (const std::string& path : placement_.packed) open_.emplace_back(path, flags);
}

const std::string& PlacedFiles::path_of(const SampleFile& sample) {
  if (!apart()) return placement_.packed[sample.shard];
  return path_.assign(placement_.folder).append(sample.path);
}

std::string PlacedFiles::name_of(const SampleFile& sample) const {
  return apart() ? placement_.folder + sample.path
                 : placement_.packed[sample.shard] + ": " + sample.path;
}

void PlacedFiles::refuse_length(const SampleFile& sample, std::uint64_t found) {
  if (!apart()) throw Error(name_of(sample), "is cut off", placement_.remedy);
  std::error_code error;
  const std::uint64_t really = std::filesystem::file_size(path_of(sample), error);
  throw Error(name_of(sample),
              "has " + std::to_string(error ? found : really) + " bytes, the manifest says " +
                  std::to_string(sample.bytes),
              placement_.remedy);
}

void PlacedFiles::check_unchanged(const SampleFile& sample, int file) {
  if (!apart() || sample.changed_ns == kUnknownTime) return;
  const auto changed = file >= 0 ? changed_of(file) : changed_of(path_of(sample));
  if (!changed) refuse_read(sample, 0, errno);
  if (*changed != sample.changed_ns)
    throw Error(name_of(sample), "has another time of change", placement_.remedy);
}

void PlacedFiles::refuse_read(const SampleFile& sample, std::uint64_t offset, int error) const {
  refuse_reading(name_of(sample),
                 std::string(std::strerror(error)) + " at byte " + std::to_string(offset), error,
                 kVerify);
}

}  // namespace feedrate::storage
