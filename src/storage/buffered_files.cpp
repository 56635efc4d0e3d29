#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "measure/error.h"
#include "storage/container.h"

namespace feedrate {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) throw Error(path, std::strerror(errno), "check the dataset with `feedrate verify`");
  }
  ~FileDescriptor() { close(fd_); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void wrong_length(const std::string& path, std::uint64_t found, std::uint64_t expected) {
  throw Error(path, "has " + std::to_string(found) + " bytes, the manifest says " + std::to_string(expected),
              "the file changed since it was made: run `feedrate verify`, then `feedrate gen` again");
}

// Both parts at once, and a byte more: it shows a file that is too long, without a call of its own to ask.
void read_file(const std::string& path, const ReadRequest& request) {
  const FileDescriptor file(path);
  const std::uint64_t bytes = request.sample->bytes;
  const std::size_t head = bytes - request.tail.size();
  std::byte spare;
  const std::array<std::span<std::byte>, 3> wanted{
      std::span(request.into->resize(head), head), request.tail, std::span(&spare, 1)};
  std::uint64_t done = 0;
  while (done < bytes) {
    std::array<iovec, 3> rest;
    std::uint64_t skip = done;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::size_t skipped = std::min<std::uint64_t>(skip, wanted[i].size());
      rest[i] = {wanted[i].data() + skipped, wanted[i].size() - skipped};
      skip -= skipped;
    }
    const ssize_t n = preadv(file.get(), rest.data(), static_cast<int>(rest.size()), static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(path, std::string(std::strerror(errno)) + " at byte " + std::to_string(done));
    if (n == 0) break;
    done += static_cast<std::uint64_t>(n);
  }
  if (done != bytes) wrong_length(path, done, bytes);
}

class BufferedFiles : public ReadsOnDemand {
 public:
  explicit BufferedFiles(std::filesystem::path root) : root_(root.string() + "/") {}

  // The kernel reads the file into the page cache on its own.
  void expect(const SampleFile& sample) override {
    path_.assign(root_).append(sample.path);
    const int file = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;  // whoever reads it says why
    posix_fadvise(file, 0, 0, POSIX_FADV_WILLNEED);
    close(file);
  }

 private:
  std::int64_t carry_out(const ReadRequest& request) override {
    path_.assign(root_).append(request.sample->path);
    read_file(path_, request);
    return 0;
  }

  std::string root_;
  std::string path_;  // reused, so that a read allocates nothing
};

}  // namespace

std::unique_ptr<Storage> make_buffered_files(std::filesystem::path root) {
  return std::make_unique<BufferedFiles>(std::move(root));
}

Container files_container() {
  return {"files", "each sample is a file in its class folder", "", false,
          [](const DatasetVariant& variant) { return make_buffered_files(variant.folder); }, nullptr};
}

}  // namespace feedrate
