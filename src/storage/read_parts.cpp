#include "storage/read_parts.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace feedrate::storage {

void read_parts(PlacedFiles& files, const SampleFile& sample, int file, std::span<std::byte> head,
                std::span<std::byte> tail) {
  const std::uint64_t offset = files.offset_of(sample), bytes = head.size() + tail.size();
  // The byte more shows a file that is too long, without a call of its own to ask.
  std::byte spare;
  const std::array<std::span<std::byte>, 3> wanted{head, tail, {&spare, files.apart() ? 1U : 0U}};
  std::uint64_t done = 0;
  do {
    std::array<iovec, 3> rest;
    int parts = 0;  // one alone is the kernel's short way
    std::uint64_t skip = done;
    for (const std::span<std::byte> part : wanted) {
      const std::size_t skipped = std::min<std::uint64_t>(skip, part.size());
      skip -= skipped;
      if (skipped < part.size())
        rest[static_cast<std::size_t>(parts++)] = {part.data() + skipped, part.size() - skipped};
    }
    const ssize_t n = preadv(file, rest.data(), parts, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) files.refuse_read(sample, offset + done, errno);
    if (n == 0) break;
    done += static_cast<std::uint64_t>(n);
  } while (done < bytes);
  if (done != bytes) files.refuse_length(sample, done);
}

}  // namespace feedrate::storage
