#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <string>

#include "measure/error.h"
#include "storage/storage.h"

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

void read_file(const std::string& path, std::uint64_t bytes, Buffer& into) {
  const FileDescriptor file(path);
  // One byte more than expected shows a file that is too long, without a call of its own to ask.
  std::byte* to = into.resize(bytes + 1);
  std::uint64_t offset = 0;
  while (offset <= bytes) {
    const ssize_t n = pread(file.get(), to + offset, bytes + 1 - offset, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(path, std::string(std::strerror(errno)) + " at byte " + std::to_string(offset));
    if (n == 0) break;
    offset += static_cast<std::uint64_t>(n);
  }
  if (offset != bytes) wrong_length(path, offset, bytes);
  into.resize(bytes);
}

// The simplest case of the interface: a request is carried out when its completion is asked for.
class BufferedFiles : public Storage {
 public:
  explicit BufferedFiles(std::filesystem::path root) : root_(root.string() + "/") {}

  void submit(std::span<const ReadRequest> requests) override {
    pending_.insert(pending_.end(), requests.begin(), requests.end());
  }

  std::size_t poll(std::span<ReadCompletion> done, bool) override {
    std::size_t count = 0;
    for (; count < done.size() && !pending_.empty(); ++count) {
      const ReadRequest request = pending_.front();
      pending_.pop_front();
      done[count] = {request.tag, nullptr};
      try {
        path_.assign(root_).append(request.path);
        read_file(path_, request.bytes, *request.into);
      } catch (...) {
        done[count].error = std::current_exception();
      }
    }
    return count;
  }

 private:
  std::string root_;
  std::string path_;  // reused, so that a read allocates nothing
  std::deque<ReadRequest> pending_;
};

}  // namespace

void Storage::read(std::string_view path, std::uint64_t bytes, Buffer& into) {
  const ReadRequest request{0, path, bytes, &into};
  submit({&request, 1});
  ReadCompletion done;
  poll({&done, 1}, true);
  if (done.error) std::rethrow_exception(done.error);
}

std::unique_ptr<Storage> make_buffered_files(std::filesystem::path root) {
  return std::make_unique<BufferedFiles>(std::move(root));
}

}  // namespace feedrate
