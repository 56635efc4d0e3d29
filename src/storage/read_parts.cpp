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
    std::uint64_t skip = done;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::size_t skipped = std::min<std::uint64_t>(skip, wanted[i].size());
      rest[i] = {wanted[i].data() + skipped, wanted[i].size() - skipped};
      skip -= skipped;
    }
    const ssize_t n =
        preadv(file, rest.data(), static_cast<int>(rest.size()), static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) files.refuse_read(sample, offset + done, errno);
    if (n == 0) break;
    done += static_cast<std::uint64_t>(n);
  } while (done < bytes);
  if (done != bytes) files.refuse_length(sample, done);
}

}  // namespace feedrate::storage
