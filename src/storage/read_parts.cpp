#include "storage/read_parts.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace feedrate::storage {

ReadOnlyFile::ReadOnlyFile(const std::string& path)
    : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) throw Error(path, std::strerror(errno), "check the dataset with `feedrate verify`");
}
ReadOnlyFile::~ReadOnlyFile() { close(fd_); }

std::uint64_t read_parts(const ReadOnlyFile& file, const std::string& path, std::uint64_t offset,
                         const ReadRequest& request, bool one_more) {
  const std::uint64_t bytes = request.sample->bytes;
  const std::size_t head = bytes - request.tail.size();
  std::byte spare;
  const std::array<std::span<std::byte>, 3> wanted{std::span(request.into->resize(head), head),
                                                   request.tail,
                                                   std::span(&spare, one_more ? 1 : 0)};
  std::uint64_t done = 0;
  do {
    std::array<iovec, 3> rest;
    std::uint64_t skip = done;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::size_t skipped = std::min<std::uint64_t>(skip, wanted[i].size());
      rest[i] = {wanted[i].data() + skipped, wanted[i].size() - skipped};
      skip -= skipped;
    }
    const ssize_t n = preadv(file.get(), rest.data(), static_cast<int>(rest.size()),
                             static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      throw Error(path,
                  std::string(std::strerror(errno)) + " at byte " + std::to_string(offset + done));
    if (n == 0) break;
    done += static_cast<std::uint64_t>(n);
  } while (done < bytes);
  return done;
}

}  // namespace feedrate::storage
