#include "storage/direct_range.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace feedrate::storage {

DirectRange direct_range(const PlacedFiles& files, const SampleFile& sample) {
  const std::uint64_t begin = files.offset_of(sample);
  const std::uint64_t end = begin + sample.bytes + (files.apart() ? 1 : 0);
  const std::uint64_t offset = aligned_down(begin);
  return {offset, aligned_up(end) - offset, begin - offset};
}

std::uint64_t read_direct(PlacedFiles& files, const SampleFile& sample, int file, std::byte* to) {
  const DirectRange range = direct_range(files, sample);
  std::uint64_t got = 0;
  while (got < range.length) {
    // A read that ends within a block has met the file's end, or is to be gone on with from there.
    const std::uint64_t from = aligned_down(got);
    const ssize_t n =
        pread(file, to + from, range.length - from, static_cast<off_t>(range.offset + from));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EINVAL) refuse_direct(files.name_of(sample));
    // What lies before the sample in its first block is read for the block's sake.
    if (n < 0) {
      files.refuse_read(sample, std::max(files.offset_of(sample), range.offset + from), errno);
    }
    const std::uint64_t now = from + static_cast<std::uint64_t>(n);
    if (now <= got) break;
    got = now;
    if (got % kDirectAlignment != 0 && range.found(got) >= sample.bytes) break;
  }
  return range.found(got);
}

}  // namespace feedrate::storage
