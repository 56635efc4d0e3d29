// The engine "buffered": open, pread, close, through the page cache.
#include <fcntl.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "measure/clock.h"
#include "storage/io_engine.h"
#include "storage/read_parts.h"

namespace feedrate::storage {
namespace {

class BufferedReads : public ReadsOnDemand {
 public:
  BufferedReads(Placement placement, int depth)
      : ReadsOnDemand(depth),
        files_(std::move(placement), 0),
        slots_(static_cast<std::size_t>(depth)) {}

 private:
  // By tag.
  struct Slot {
    Buffer buffer;
    std::optional<ReadOnlyFile> file;  // announced, and not yet read
    std::int64_t open_ns = -1;         // that this took
  };

  // The kernel reads the file into the page cache on its own.
  void announce(const ReadRequest& request) override {
    const SampleFile& sample = *request.sample;
    Slot& slot = slots_[request.tag];
    try {
      if (files_.apart()) open(slot, sample);
      posix_fadvise(file_of(slot, sample), static_cast<off_t>(files_.offset_of(sample)),
                    static_cast<off_t>(sample.bytes), POSIX_FADV_WILLNEED);
    } catch (const std::exception&) {  // the read will say why
    }
  }

  void read_sample(const ReadRequest& request, ReadCompletion& done) override {
    const SampleFile& sample = *request.sample;
    Slot& slot = slots_[request.tag];
    if (files_.apart()) {
      if (slot.file)
        done.latency_ns = slot.open_ns;
      else
        open(slot, sample);
      done.open_ns = slot.open_ns;
    }
    const std::size_t head = sample.bytes - request.tail.size();
    const std::span<std::byte> to(slot.buffer.resize(head), head);
    const auto close = [&slot](const void*) { slot.file.reset(); };
    const std::unique_ptr<const void, decltype(close)> at_the_end(&slot, close);
    read_parts(files_, sample, file_of(slot, sample), to, request.tail);
    files_.check_unchanged(sample, file_of(slot, sample));
    done.bytes = to;
  }

  void open(Slot& slot, const SampleFile& sample) {
    const std::int64_t began = measure::now_ns();
    slot.file.emplace(files_.path_of(sample));
    slot.open_ns = measure::now_ns() - began;
  }
  int file_of(const Slot& slot, const SampleFile& sample) const {
    return files_.apart() ? slot.file->get() : files_.packed_file(sample);
  }

  PlacedFiles files_;
  std::vector<Slot> slots_;
};

}  // namespace

IoEngine buffered_reads() {
  return {.name = "buffered",
          .help =
              "pread through the page cache; with a depth, files are announced to the kernel "
              "(posix_fadvise) ahead of their reading",
          .open = [](Placement placement, int depth) -> std::unique_ptr<Storage> {
            return std::make_unique<BufferedReads>(std::move(placement), depth);
          }};
}

}  // namespace feedrate::storage
