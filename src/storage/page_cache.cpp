#include "storage/page_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "storage/container.h"

namespace feedrate::storage {
namespace {

struct Pages {
  std::size_t all = 0;
  std::size_t resident = 0;
};

Pages count_pages(const std::string& path) {
  Pages pages;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return pages;
  struct stat info;
  // Since Linux 5.2 mincore says "all resident" of files that the caller neither owns nor may
  // write. An owner need not be able to write: the file system may be mounted read-only.
  const auto may_know = [&] {
    return info.st_uid == geteuid() || geteuid() == 0 || access(path.c_str(), W_OK) == 0;
  };
  if (fstat(fd, &info) == 0 && info.st_size > 0 && may_know()) {
    const auto size = static_cast<std::size_t>(info.st_size);
    void* map = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED) {
      const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
      std::vector<unsigned char> in_core((size + page - 1) / page);
      if (mincore(map, size, in_core.data()) == 0) {
        pages.all = in_core.size();
        pages.resident = static_cast<std::size_t>(
            std::count_if(in_core.begin(), in_core.end(), [](unsigned char c) { return c & 1; }));
      }
      munmap(map, size);
    }
  }
  close(fd);
  return pages;
}

// Tells `slot`, as long as it lives, that the thread waits for the i-th stored file.
class Waiting {
 public:
  Waiting(OutstandingReads::Slot* slot, const DatasetVariant& variant, std::size_t i)
      : slot_(slot) {
    if (slot_) slot_->begin(first_sample_in(variant, i));
  }
  ~Waiting() {
    if (slot_) slot_->end();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  OutstandingReads::Slot* const slot_;
};

}  // namespace

void warm_page_cache(const DatasetVariant& variant, std::stop_token stop,
                     OutstandingReads::Slot* slot) {
  const auto storage = make_storage(variant);
  if (slot) storage->tell(*slot);
  Buffer buffer;
  for (const SampleFile& sample : variant.samples) {
    if (stop.stop_requested()) return;
    try {
      storage->read(sample, buffer);
    } catch (const Error&) {  // the loaders will meet it, and know what `on-bad` says of it
    }
  }
}

void drop_from_page_cache(const DatasetVariant& variant, std::stop_token stop,
                          OutstandingReads::Slot* slot) {
  for (std::size_t i = 0; i < stored_files(variant); ++i) {
    if (stop.stop_requested()) return;
    const std::filesystem::path path = stored_file(variant, i);
    const Waiting waiting(slot, variant, i);
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
      throw Error(path.string(), std::strerror(errno), "check the dataset with `feedrate verify`");
    fdatasync(fd);  // dirty pages are not dropped
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
  }
}

double page_cache_share(const DatasetVariant& variant, OutstandingReads::Slot* slot) {
  constexpr std::size_t kFiles = 256;
  const std::size_t files = stored_files(variant), stride = files / kFiles + 1;
  Pages sum;
  for (std::size_t i = 0; i < files; i += stride) {
    const Waiting waiting(slot, variant, i);
    const Pages pages = count_pages(stored_file(variant, i).string());
    sum.all += pages.all;
    sum.resident += pages.resident;
  }
  return sum.all == 0 ? -1 : static_cast<double>(sum.resident) / static_cast<double>(sum.all);
}

}  // namespace feedrate::storage
