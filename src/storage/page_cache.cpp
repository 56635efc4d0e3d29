#include "storage/page_cache.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"

namespace feedrate::storage {
namespace {

// Linux 6.5, which may be newer than the headers. The number is the same on every architecture that
// is built for.
constexpr long kCachestatCall = 451;
struct CachestatRange {
  std::uint64_t offset, length;  // no length: to the file's end
};
struct Cachestat {
  std::uint64_t cached, dirty, writeback, evicted, recently_evicted;  // pages
};

struct Pages {
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  std::int64_t unwritten = -1;  // -1: not told
  std::string_view by;
};

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }
std::uint64_t pages_of(std::uint64_t bytes) { return (bytes + page_bytes() - 1) / page_bytes(); }

// The pages of an overlay's file are those of a file below it, and so may FUSE's be; cachestat
// looks for them in vain, mincore finds them.
bool has_pages_elsewhere(int fd) {
  struct statfs info;
  return fstatfs(fd, &info) != 0 || info.f_type == OVERLAYFS_SUPER_MAGIC ||
         info.f_type == FUSE_SUPER_MAGIC;
}

// None where the kernel lacks the call (ENOSYS), a container forbids it (EPERM) or the file system
// does not take it (EOPNOTSUPP).
std::optional<Pages> by_cachestat(int fd, std::uint64_t size) {
  if (has_pages_elsewhere(fd)) return std::nullopt;
  CachestatRange whole{0, 0};
  Cachestat found{};
  if (syscall(kCachestatCall, fd, &whole, &found, 0) != 0) return std::nullopt;
  // A large page at the end may reach beyond the file.
  return Pages{pages_of(size), std::min(found.cached, pages_of(size)),
               static_cast<std::int64_t>(found.dirty + found.writeback), "cachestat"};
}

std::optional<Pages> by_mincore(int fd, std::uint64_t size) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 30;  // a byte for each page of it
  void* map = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) return std::nullopt;
  std::optional<Pages> pages = Pages{pages_of(size), 0, -1, "mincore"};
  std::vector<unsigned char> in_core(pages_of(std::min(size, kPiece)));
  for (std::uint64_t at = 0; pages && at < size; at += kPiece) {
    const std::uint64_t piece = std::min(kPiece, size - at);
    if (mincore(static_cast<char*>(map) + at, piece, in_core.data()) != 0) {
      pages.reset();
      break;
    }
    pages->resident += static_cast<std::uint64_t>(std::count_if(
        in_core.begin(), in_core.begin() + static_cast<std::ptrdiff_t>(pages_of(piece)),
        [](unsigned char c) { return c & 1; }));
  }
  munmap(map, size);
  return pages;
}

// None where this user may not know. Since Linux 5.2 mincore says "all resident" of files that the
// caller neither owns nor may write, and cachestat refuses them. An owner need not be able to
// write: the file system may be mounted read-only.
std::optional<Pages> count_pages(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::optional<Pages> pages;
  struct stat info;
  const auto may_know = [&] {
    return info.st_uid == geteuid() || geteuid() == 0 ||
           faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
  };
  if (fstat(fd, &info) == 0 && info.st_size > 0 && may_know()) {
    const auto size = static_cast<std::uint64_t>(info.st_size);
    pages = by_cachestat(fd, size);
    if (!pages) pages = by_mincore(fd, size);
  }
  close(fd);
  return pages;
}

// Adds up what several files say.
class Sum {
 public:
  void add(const std::optional<Pages>& pages) {
    if (!pages) return;
    all_ += pages->all;
    resident_ += pages->resident;
    by_ = files_ == 0 || pages->by == by_ ? pages->by : "mincore";
    ++files_;
    unwritten_ = unwritten_ < 0 || pages->unwritten < 0 ? -1 : unwritten_ + pages->unwritten;
  }
  Residency residency() const {
    Residency found{.bytes = resident_ * page_bytes(), .files = files_, .by = by_};
    if (files_ == 0) return found;
    found.share = static_cast<double>(resident_) / static_cast<double>(all_);
    found.unwritten_pages = unwritten_;
    return found;
  }

 private:
  std::uint64_t all_ = 0, resident_ = 0;
  std::int64_t unwritten_ = 0;
  std::size_t files_ = 0;
  std::string_view by_;
};

// Dirty pages are not dropped. A large file is written piece by piece: there may be as much to
// write as the kernel lets programs leave behind, and only a piece that does not end is a stall.
void write_back(int fd, const SampleFile& sample, const Waiting& waiting) {
  constexpr off64_t kPiece = 16 << 20;
  struct stat info;
  for (off64_t at = 0; fstat(fd, &info) == 0 && at + kPiece < info.st_size; at += kPiece) {
    waiting.begin(sample);
    sync_file_range(
        fd, at, kPiece,
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
  }
  waiting.begin(sample);
  fdatasync(fd);
}

// `sample`: what the file is to the watch. False: it cannot be opened, and errno says why.
bool drop(const std::filesystem::path& path, const SampleFile& sample,
          OutstandingReads::Slot* slot) {
  const Waiting waiting(slot, sample);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  write_back(fd, sample, waiting);
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  close(fd);
  return true;
}

std::int64_t length_of(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 ? info.st_size : 0;
}

// Reads the i-th stored file from its beginning to its end. The watch sees each piece of it, and
// which sample that is of: a packed file of any length may hang in its middle. A piece that cannot
// be read is left out.
void read_through(const DatasetVariant& variant, std::size_t i, std::span<std::byte> piece,
                  const std::stop_token& stop, OutstandingReads::Slot* slot) {
  const SampleFile* sample = &first_sample_in(variant, i);
  const SampleFile* const end = variant.samples.data() + variant.samples.size();
  const auto begins_by = [&](const SampleFile* next, std::int64_t at) {
    return !variant.packed.empty() && next != end && next->shard == i &&
           next->offset <= static_cast<std::uint64_t>(at);
  };
  const Waiting waiting(slot, *sample);
  const int fd = open(stored_file(variant, i).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  const std::int64_t length = length_of(fd);
  for (std::int64_t at = 0; at < length && !stop.stop_requested();) {
    while (begins_by(sample + 1, at)) ++sample;
    waiting.begin(*sample);
    const ssize_t got = pread(fd, piece.data(), piece.size(), at);
    if (got == 0) break;  // it was cut off meanwhile
    at += got > 0 ? got : static_cast<std::int64_t>(piece.size());
  }
  close(fd);
}

}  // namespace

void warm_page_cache(const DatasetVariant& variant, std::stop_token stop,
                     OutstandingReads::Slot* slot) {
  std::vector<std::byte> piece(std::size_t{256} << 10);
  for (std::size_t i = 0; i < stored_files(variant) && !stop.stop_requested(); ++i)
    read_through(variant, i, piece, stop, slot);
}

void drop_from_page_cache(const DatasetVariant& variant,
                          std::span<const std::filesystem::path> below, std::stop_token stop,
                          OutstandingReads::Slot* slot) {
  for (std::size_t i = 0; i < stored_files(variant); ++i) {
    if (stop.stop_requested()) return;
    const std::filesystem::path path = stored_file(variant, i);
    if (!drop(path, first_sample_in(variant, i), slot))
      throw Error(path.string(), std::strerror(errno), "check the dataset with `feedrate verify`");
  }
  // After the variant's files, whose writing makes these dirty.
  for (const std::filesystem::path& path : below) {
    if (stop.stop_requested()) return;
    drop(path, variant.samples.front(), slot);
  }
}

bool drop_all_caches(std::stop_token stop, const std::filesystem::path& file, double patience_s) {
  const int fd = open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct Outcome {
    std::mutex mutex;
    std::condition_variable_any changed;
    bool ended = false, done = false;
  };
  const auto outcome = std::make_shared<Outcome>();
  // Nothing interrupts the kernel at this: whoever waits for it must be able to go.
  std::thread([fd, outcome] {
    const bool written = write(fd, "3\n", 2) == 2;
    close(fd);
    const std::lock_guard lock(outcome->mutex);
    outcome->ended = true;
    outcome->done = written;
    outcome->changed.notify_all();
  }).detach();
  std::unique_lock lock(outcome->mutex);
  outcome->changed.wait_for(lock, stop, std::chrono::duration<double>(patience_s),
                            [&] { return outcome->ended; });
  return outcome->done;
}

Residency page_cache_residency(const DatasetVariant& variant, std::size_t most,
                               std::stop_token stop, OutstandingReads::Slot* slot) {
  const std::size_t files = stored_files(variant), looked_at = std::min(files, most);
  Sum sum;
  for (std::size_t k = 0; k < looked_at && !stop.stop_requested(); ++k) {
    const std::size_t i = k * files / looked_at;
    const Waiting waiting(slot, first_sample_in(variant, i));
    sum.add(count_pages(stored_file(variant, i).string()));
  }
  return sum.residency();
}

Residency page_cache_residency(std::span<const std::filesystem::path> files,
                               const DatasetVariant& variant, OutstandingReads::Slot* slot) {
  Sum sum;
  for (const std::filesystem::path& path : files) {
    const Waiting waiting(slot, variant.samples.front());
    sum.add(count_pages(path.string()));
  }
  return sum.residency();
}

}  // namespace feedrate::storage
