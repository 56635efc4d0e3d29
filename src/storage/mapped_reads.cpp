// The engine "mmap": files mapped into memory; their bytes are used where they lie in the page
// cache.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "measure/clock.h"
#include "storage/io_engine.h"
#include "storage/whole_sample.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22  // Linux 5.14
#endif

namespace feedrate::storage {
namespace {

// A whole file in memory.
class Mapping {
 public:
  Mapping() = default;
  // Throws a std::system_error where it cannot be mapped.
  explicit Mapping(int file) {
    struct stat info;
    if (fstat(file, &info) != 0) throw std::system_error(errno, std::generic_category());
    size_ = static_cast<std::uint64_t>(info.st_size);
    if (size_ == 0) return;
    void* const at = mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) throw std::system_error(errno, std::generic_category());
    data_ = static_cast<std::byte*>(at);
  }
  ~Mapping() {
    if (data_) munmap(data_, size_);
  }
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_), std::swap(size_, other.size_);
    return *this;
  }
  std::byte* data() const { return data_; }
  std::uint64_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
};

class MappedReads : public ReadsOnDemand {
 public:
  MappedReads(Placement placement, int depth)
      : ReadsOnDemand(depth),
        files_(std::move(placement), 0),
        own_(static_cast<std::size_t>(depth)) {
    for (const ReadOnlyFile& file : files_.open()) packed_.emplace_back(file.get());
  }

 private:
  void announce(const ReadRequest& request) override {
    try {
      advise(whole_sample(request, nullptr), MADV_WILLNEED);
    } catch (const std::exception&) {  // the read will say why
      own_[request.tag].reset();
    }
  }

  void read_sample(const ReadRequest& request, ReadCompletion& done) override {
    const std::span<std::byte> sample = whole_sample(request, &done);
    // Reads what is missing at once, and says what a fault would end the process for.
    if (advise(sample, MADV_POPULATE_READ) != 0)
      files_.refuse_read(*request.sample, files_.offset_of(*request.sample),
                         errno == EFAULT ? EIO : errno);
    own_[request.tag].announced = false;
    done.bytes = without_tail(request, sample);
  }

  // Maps a file of its own, if announce() has not done so.
  std::span<std::byte> whole_sample(const ReadRequest& request, ReadCompletion* done) {
    const SampleFile& sample = *request.sample;
    const Mapping* mapping = nullptr;
    if (!files_.apart()) {
      mapping = &packed_[sample.shard];
    } else {
      Own& own = own_[request.tag];
      const bool was_announced = own.announced;
      if (!was_announced) own = map(sample);
      own.announced = done == nullptr;
      if (done) done->open_ns = own.open_ns;
      if (done && was_announced) done->latency_ns = own.open_ns;
      mapping = &own.mapping;
    }
    const std::uint64_t offset = files_.offset_of(sample);
    const std::uint64_t found = mapping->size() - std::min(mapping->size(), offset);
    if (!is_whole(files_, sample, found)) files_.refuse_length(sample, found);
    return {mapping->data() + offset, sample.bytes};
  }

  struct Own {
    Mapping mapping;
    bool announced = false;  // for the request that is in flight
    std::int64_t open_ns = -1;
    void reset() { *this = Own{}; }
  };
  Own map(const SampleFile& sample) {
    const std::int64_t began = measure::now_ns();
    const ReadOnlyFile file(files_.path_of(sample));
    const std::int64_t opened = measure::now_ns();
    try {
      Own own{.mapping = Mapping(file.get()), .open_ns = opened - began};
      if (is_whole(files_, sample, own.mapping.size())) files_.check_unchanged(sample, file.get());
      return own;
    } catch (const std::system_error& error) {
      files_.refuse_read(sample, 0, error.code().value());
    }
  }

  static int advise(std::span<std::byte> bytes, int advice) {
    if (bytes.empty()) return 0;
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data()) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(bytes.data() + bytes.size());
    return madvise(reinterpret_cast<void*>(begin), end - begin, advice);
  }

  PlacedFiles files_;
  std::vector<Mapping> packed_;
  std::vector<Own> own_;  // by tag
};

void check_mapping() {
  std::byte byte{};
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  void* const at = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(&byte) / page * page);
  if (madvise(at, page, MADV_POPULATE_READ) == 0) return;
  throw Error("--io mmap", std::string("needs Linux 5.14 (madvise: ") + std::strerror(errno) + ")",
              "use --io buffered");
}

}  // namespace

IoEngine mapped_reads() {
  return {.name = "mmap",
          .help =
              "files mapped into memory, used where they lie in the page cache; with a depth, "
              "announced ahead (madvise)",
          .open = [](Placement placement, int depth) -> std::unique_ptr<Storage> {
            return std::make_unique<MappedReads>(std::move(placement), depth);
          },
          .check = check_mapping};
}

}  // namespace feedrate::storage
