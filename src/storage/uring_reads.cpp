// The engines "uring" and "uring-direct": requests of a batch go to the kernel by one system call
// and are carried out beside the worker (liburing). A sample that is a file of its own is a chain
// of three operations: open, read, close.
#include <fcntl.h>
#include <liburing.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "measure/clock.h"
#include "storage/direct_range.h"
#include "storage/io_engine.h"
#include "storage/read_parts.h"
#include "storage/whole_sample.h"

namespace feedrate::storage {
namespace {

constexpr const char* kOtherwise = "use --io buffered";

// "2", or nothing where the kernel does not know the setting.
std::string kernel_setting(const char* path) {
  std::string value;
  std::ifstream(path) >> value;
  return value;
}
bool is_filtered() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Seccomp:")) return line.find('2') != std::string::npos;
  return false;
}
bool kernel_is_older_than(int major, int minor) {
  utsname system;
  int is_major = 0, is_minor = 0;
  if (uname(&system) != 0 || std::sscanf(system.release, "%d.%d", &is_major, &is_minor) != 2)
    return false;
  return std::pair(is_major, is_minor) < std::pair(major, minor);
}

[[noreturn]] void refuse_ring(int error) {
  if (kernel_is_older_than(5, 18))
    throw Error("io_uring", "needs Linux 5.18, this kernel is older", kOtherwise);
  if (const std::string off = kernel_setting("/proc/sys/kernel/io_uring_disabled");
      error == EPERM && !off.empty() && off != "0") {
    throw Error("io_uring",
                "is forbidden on this machine (kernel.io_uring_disabled is " + off + ")",
                "set it to 0 as root (`sysctl kernel.io_uring_disabled=0`), or use --io buffered");
  }
  if ((error == EPERM || error == ENOSYS) && is_filtered()) {
    throw Error("io_uring", "is forbidden in this container (its seccomp filter)",
                "allow it (Docker: --security-opt seccomp=unconfined), or use --io buffered");
  }
  if (error == ENOSYS) throw Error("io_uring", "is not in this kernel", kOtherwise);
  throw Error("io_uring", std::string("cannot be set up: ") + std::strerror(error), kOtherwise);
}

class Ring {
 public:
  explicit Ring(unsigned entries) {
    if (const int error = -io_uring_queue_init(entries, &ring_, 0); error != 0) refuse_ring(error);
  }
  ~Ring() { io_uring_queue_exit(&ring_); }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  io_uring* get() { return &ring_; }
  // The kernel may take fewer than all at once.
  void submit() {
    while (io_uring_sq_ready(&ring_) > 0) {
      const int error = -io_uring_submit(&ring_);
      if (error > 0 && error != EINTR && error != EAGAIN && error != EBUSY) fail(error);
    }
  }
  // Calls take(user data, result) for each operation that has ended; waits for one if `wait`.
  template <typename Take>
  void take_all(bool wait, const Take& take) {
    io_uring_cqe* ended = nullptr;
    if (wait) {
      const int error = -io_uring_wait_cqe(&ring_, &ended);
      if (error > 0 && error != EINTR && error != EAGAIN) fail(error);
    }
    while (io_uring_peek_cqe(&ring_, &ended) == 0) {
      take(ended->user_data, ended->res);
      io_uring_cqe_seen(&ring_, ended);
    }
  }

 private:
  // Nobody knows any more what the kernel still writes to: the process must not go on.
  [[noreturn]] static void fail(int error) {
    std::fprintf(stderr, "feedrate: io_uring: fails: %s; %s\n", std::strerror(error), kOtherwise);
    std::abort();
  }

  io_uring ring_{};
};

enum class Operation : std::uint64_t { open, read, close };

// Whether a latency says little of the read, which may have ended `lateness_ns` before.
bool is_late(std::int64_t lateness_ns, std::int64_t latency_ns) {
  constexpr std::int64_t kAlwaysSoon = 50'000;
  constexpr std::int64_t kShare = 20;  // 5 %
  return lateness_ns > kAlwaysSoon && lateness_ns > latency_ns / kShare;
}

class UringReads : public Storage {
 public:
  UringReads(Placement placement, int depth, bool direct)
      : Storage(depth),
        direct_(direct),
        files_(std::move(placement), direct ? O_DIRECT : 0),
        slot_bytes_(largest_direct_range(files_.placement().largest)),
        memory_(slot_bytes_ * static_cast<std::size_t>(depth)),
        slots_(static_cast<std::size_t>(depth)),
        ring_(std::bit_ceil(3U * static_cast<unsigned>(depth))) {
    register_files();
    register_memory();
    for (std::size_t i = 0; i < slots_.size(); ++i)
      slots_[i].memory = memory_.data() + i * slot_bytes_;
    ended_.reserve(slots_.size());
  }
  ~UringReads() override {
    while (operations_ > 0) take_ended(true);
  }

 private:
  // A request, by tag.
  struct Slot {
    ReadRequest request;
    std::string path;             // reused
    std::byte* memory = nullptr;  // slot_bytes_ long
    std::array<iovec, 3> parts;
    std::byte spare;
    int operations = 0;        // that have not ended
    int opened = 0, read = 0;  // results
    std::int64_t began_ns = 0, ended_ns = 0;
    std::int64_t left_ns = 0;  // from then on the worker may have done other things
    bool seen_late = false;
  };

  void register_files() {
    std::vector<int> files(slots_.size(), -1);
    if (!files_.apart()) {
      files.clear();
      for (const ReadOnlyFile& file : files_.open()) files.push_back(file.get());
    }
    const int error =
        -io_uring_register_files(ring_.get(), files.data(), static_cast<unsigned>(files.size()));
    if (error != 0) refuse_ring(error);
  }

  // Saves the kernel the pinning of the memory at each request with O_DIRECT. RLIMIT_MEMLOCK bounds
  // what a user may pin; reads do without beyond that, and the record says so.
  void register_memory() {
    std::vector<iovec> parts;
    for (std::size_t i = 0; i < slots_.size(); ++i)
      parts.push_back({memory_.data() + i * slot_bytes_, slot_bytes_});
    registered_ = io_uring_register_buffers(ring_.get(), parts.data(),
                                            static_cast<unsigned>(parts.size())) == 0;
  }

  void start(std::span<const ReadRequest> requests) override {
    const std::int64_t now = measure::now_ns();
    for (const ReadRequest& request : requests) {
      Slot& slot = slots_[request.tag];
      slot.request = request, slot.opened = 0, slot.read = 0;
      slot.began_ns = slot.left_ns = now;
      slot.operations = files_.apart() ? 3 : 1;
      operations_ += slot.operations;
      if (files_.apart()) {
        add_open(slot);
        add_read(slot, static_cast<int>(request.tag), IOSQE_IO_HARDLINK);  // short or not
        add_close(slot);
      } else {
        add_read(slot, static_cast<int>(request.sample->shard), 0);
      }
    }
    ring_.submit();
    // What the kernel reads at once, from the page cache, ends within the call. Of several nobody
    // knows when each of them did.
    if (requests.size() == 1) slots_[requests[0].tag].left_ns = measure::now_ns();
  }

  io_uring_sqe* next_entry() { return io_uring_get_sqe(ring_.get()); }
  static void name(io_uring_sqe* entry, const Slot& slot, Operation operation) {
    entry->user_data =
        (std::uint64_t{slot.request.tag} << 2) | static_cast<std::uint64_t>(operation);
  }

  void add_open(Slot& slot) {
    slot.path = files_.path_of(*slot.request.sample);
    io_uring_sqe* const entry = next_entry();
    io_uring_prep_openat_direct(entry, AT_FDCWD, slot.path.c_str(),
                                O_RDONLY | (direct_ ? O_DIRECT : 0), 0, slot.request.tag);
    entry->flags |= IOSQE_IO_LINK;
    name(entry, slot, Operation::open);
  }

  void add_read(Slot& slot, int file, unsigned link) {
    const SampleFile& sample = *slot.request.sample;
    io_uring_sqe* const entry = next_entry();
    if (direct_) {
      const DirectRange range = direct_range(files_, sample);
      prepare(entry, slot, file, range.offset, range.length);
    } else {
      const std::uint64_t offset = files_.offset_of(sample), more = files_.apart() ? 1 : 0;
      const std::size_t tail = slot.request.tail.size();
      if (tail == 0) {
        prepare(entry, slot, file, offset, sample.bytes + more);
      } else {
        slot.parts = {iovec{slot.memory, sample.bytes - tail},
                      iovec{slot.request.tail.data(), tail}, iovec{&slot.spare, more}};
        io_uring_prep_readv(entry, file, slot.parts.data(), 3, offset);
      }
    }
    entry->flags |= IOSQE_FIXED_FILE | link;
    name(entry, slot, Operation::read);
  }
  void prepare(io_uring_sqe* entry, Slot& slot, int file, std::uint64_t offset,
               std::uint64_t length) const {
    const auto bytes = static_cast<unsigned>(length);
    if (registered_) {
      io_uring_prep_read_fixed(entry, file, slot.memory, bytes, offset,
                               static_cast<int>(slot.request.tag));
    } else {
      io_uring_prep_read(entry, file, slot.memory, bytes, offset);
    }
  }

  void add_close(Slot& slot) {
    io_uring_sqe* const entry = next_entry();
    io_uring_prep_close_direct(entry, slot.request.tag);
    name(entry, slot, Operation::close);
  }

  // A worker that waits has just looked, and sees an end at once.
  void take_ended(bool wait) {
    ring_.take_all(wait, [this, wait](std::uint64_t name, int result) {
      Slot& slot = slots_[name >> 2];
      const auto operation = static_cast<Operation>(name & 3);
      if (operation == Operation::open) slot.opened = result;
      if (operation == Operation::read) {
        slot.read = result, slot.ended_ns = measure::now_ns();
        slot.seen_late = !wait && is_late(slot.ended_ns - std::max(looked_ns_, slot.left_ns),
                                          slot.ended_ns - slot.began_ns);
      }
      --operations_;
      if (--slot.operations == 0) ended_.push_back(slot.request.tag);
    });
    looked_ns_ = measure::now_ns();
  }

  std::size_t finish(std::span<ReadCompletion> done, bool wait) override {
    take_ended(false);
    while (wait && ended_.empty() && operations_ > 0) take_ended(true);
    const std::size_t count = std::min(done.size(), ended_.size());
    for (std::size_t i = 0; i < count; ++i) {
      Slot& slot = slots_[ended_[i]];
      done[i] = {.tag = slot.request.tag};
      try {
        complete(slot, done[i]);
      } catch (...) {
        done[i].error = std::current_exception();
      }
    }
    ended_.erase(ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }

  void complete(Slot& slot, ReadCompletion& done) {
    const SampleFile& sample = *slot.request.sample;
    check_operations(slot, sample);
    const DirectRange range = direct_ ? direct_range(files_, sample) : DirectRange{};
    std::uint64_t found = range.found(static_cast<std::uint64_t>(slot.read));
    // The kernel may give less than there is. That is rare: read it again, and wait for it.
    if (!is_whole(files_, sample, found)) found = read_again(slot, sample);
    if (!is_whole(files_, sample, found)) files_.refuse_length(sample, found);
    files_.check_unchanged(sample);  // the open file is the ring's alone
    const std::span<const std::byte> read(slot.memory + range.before, sample.bytes);
    // Without O_DIRECT the tail was read to its place.
    done.bytes = direct_ ? without_tail(slot.request, read)
                         : read.first(sample.bytes - slot.request.tail.size());
    done.latency_ns = slot.ended_ns - slot.began_ns;
    done.seen_late = slot.seen_late;
    // Through the page cache the kernel copies, and pins nothing.
    done.unregistered = direct_ && !registered_;
  }

  void check_operations(const Slot& slot, const SampleFile& sample) const {
    if (slot.opened < 0) {
      if (slot.opened == -EINVAL && direct_) refuse_direct(files_.name_of(sample));
      refuse_opening(files_.name_of(sample), -slot.opened);
    }
    if (slot.read == -EINVAL && direct_) refuse_direct(files_.name_of(sample));
    if (slot.read < 0) files_.refuse_read(sample, files_.offset_of(sample), -slot.read);
  }

  std::uint64_t read_again(Slot& slot, const SampleFile& sample) {
    const ReadOnlyFile file(files_.path_of(sample), direct_ ? O_DIRECT : 0);
    if (direct_) return read_direct(files_, sample, file.get(), slot.memory);
    const std::span<std::byte> tail = slot.request.tail;
    read_parts(files_, sample, file.get(), {slot.memory, sample.bytes - tail.size()}, tail);
    return sample.bytes;
  }

  const bool direct_;
  PlacedFiles files_;
  const std::size_t slot_bytes_;
  AlignedBuffer memory_;
  std::vector<Slot> slots_;
  Ring ring_;
  bool registered_ = false;
  int operations_ = 0;                // in the ring's hands
  std::int64_t looked_ns_ = 0;        // what had ended by then has been seen
  std::vector<std::uint32_t> ended_;  // tags of requests that nobody has been told of
};

template <bool Direct>
std::unique_ptr<Storage> open_uring(Placement placement, int depth) {
  return std::make_unique<UringReads>(std::move(placement), depth, Direct);
}

void check_uring() {
  if (kernel_is_older_than(5, 18)) refuse_ring(ENOSYS);
  Ring{4};
}

}  // namespace

IoEngine uring_reads() {
  return {.name = "uring",
          .help = "io_uring through the page cache: up to io-depth requests travel at once",
          .open = open_uring<false>,
          .check = check_uring};
}

IoEngine direct_uring_reads() {
  return {.name = "uring-direct",
          .help = "io_uring with O_DIRECT, past the page cache",
          .past_page_cache = true,
          .open = open_uring<true>,
          .check = check_uring};
}

}  // namespace feedrate::storage
