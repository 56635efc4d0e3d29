// The engine "direct": open with O_DIRECT, pread of whole blocks, close: past the page cache.
#include <fcntl.h>

#include <utility>
#include <vector>

#include "measure/clock.h"
#include "storage/direct_range.h"
#include "storage/io_engine.h"
#include "storage/whole_sample.h"

namespace feedrate::storage {
namespace {

class DirectReads : public ReadsOnDemand {
 public:
  DirectReads(Placement placement, int depth)
      : ReadsOnDemand(depth), files_(std::move(placement), O_DIRECT) {
    for (int i = 0; i < depth; ++i)
      buffers_.emplace_back(largest_direct_range(files_.placement().largest));
  }

 private:
  void read_sample(const ReadRequest& request, ReadCompletion& done) override {
    const SampleFile& sample = *request.sample;
    std::byte* const buffer = buffers_[request.tag].data();
    const std::uint64_t found = read_blocks(sample, buffer, done);
    if (!is_whole(files_, sample, found)) files_.refuse_length(sample, found);
    done.bytes =
        without_tail(request, {buffer + direct_range(files_, sample).before, sample.bytes});
  }

  std::uint64_t read_blocks(const SampleFile& sample, std::byte* buffer, ReadCompletion& done) {
    if (!files_.apart()) return read_direct(files_, sample, files_.packed_file(sample), buffer);
    const std::int64_t began = measure::now_ns();
    const ReadOnlyFile file(files_.path_of(sample), O_DIRECT);
    done.open_ns = measure::now_ns() - began;
    const std::uint64_t found = read_direct(files_, sample, file.get(), buffer);
    if (is_whole(files_, sample, found)) files_.check_unchanged(sample, file.get());
    return found;
  }

  PlacedFiles files_;
  std::vector<AlignedBuffer> buffers_;  // by tag
};

}  // namespace

IoEngine direct_reads() {
  return {.name = "direct",
          .help = "pread with O_DIRECT, past the page cache; one request at a time",
          .past_page_cache = true,
          .open = [](Placement placement, int depth) -> std::unique_ptr<Storage> {
            return std::make_unique<DirectReads>(std::move(placement), depth);
          }};
}

}  // namespace feedrate::storage
