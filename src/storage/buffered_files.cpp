#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "base/error.h"
#include "storage/container.h"
#include "storage/read_parts.h"

namespace feedrate::storage {
namespace {

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
    const std::uint64_t expected = request.sample->bytes;
    // The byte more shows a file that is too long, without a call of its own to ask.
    const std::uint64_t found = read_parts(ReadOnlyFile(path_), path_, 0, request, true);
    if (found == expected) return 0;
    std::error_code error;
    const std::uint64_t really = std::filesystem::file_size(path_, error);
    throw Error(
        path_,
        "has " + std::to_string(error ? found : really) + " bytes, the manifest says " +
            std::to_string(expected),
        "the file changed since it was made: run `feedrate verify`, then `feedrate gen` again");
  }

  std::string root_;
  std::string path_;  // reused, so that a read allocates nothing
};

}  // namespace

std::unique_ptr<Storage> make_buffered_files(std::filesystem::path root) {
  return std::make_unique<BufferedFiles>(std::move(root));
}

Container files_container() {
  return {
      .name = "files",
      .help = "each sample is a file in its class folder",
      .announces = true,
      .open = [](const DatasetVariant& variant) { return make_buffered_files(variant.folder); }};
}

}  // namespace feedrate::storage
