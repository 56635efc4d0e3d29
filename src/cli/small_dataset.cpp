#include "cli/small_dataset.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "data_gen/generate.h"
#include "session/signals.h"
#include "text/progress.h"

namespace feedrate::cli {
namespace {

constexpr int kPictures = 128;

struct TemporaryFolder {
  TemporaryFolder() {
    if (!mkdtemp(path.data()))
      throw Error(path, std::strerror(errno), "name a folder that you may write: TMPDIR");
  }
  ~TemporaryFolder() {
    std::error_code ignored;  // it lies where temporary files are cleared away
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path = (std::filesystem::temp_directory_path() / "feedrate-XXXXXX").string();
};

void make_pictures(const std::string& folder, bool quiet, const std::stop_token& stop) {
  data_gen::GenerateOptions options;
  options.data = folder;
  options.formats = {"jpeg"};
  options.image_sizes = {data_gen::kMixedSize};
  options.like_imagenet = true;
  options.count = kPictures;
  options.classes = 8;
  text::ProgressLine line(quiet);
  data_gen::generate_dataset(
      options,
      [&](const data_gen::GenerateProgress& p) {
        line.show_count(
            format("making pictures · %d of %d", static_cast<int>(p.samples_done), kPictures));
      },
      [&] { return stop.stop_requested(); });
}

}  // namespace

int with_small_dataset(bool quiet, const std::function<int(const std::filesystem::path&)>& use) {
  const session::HeldSignals held;
  const TemporaryFolder folder;
  if (!quiet) {
    std::fprintf(
        stderr,
        "feedrate: no data is named (--data, --dataset): measuring %d generated JPEGs of "
        "ImageNet's sizes\n  in %s, which goes afterwards; for your own pictures: feedrate "
        "run --dataset DIR\n",
        kPictures, folder.path.c_str());
  }
  {
    const session::SignalWatcher signals;
    try {
      make_pictures(folder.path, quiet, signals.token());
    } catch (const Error&) {
      if (!signals.token().stop_requested()) throw;
    }
    if (signals.token().stop_requested()) {
      std::fprintf(stderr, "feedrate: interrupted\n");
      return signals.exit_code(1);
    }
  }
  return use(folder.path);
}

}  // namespace feedrate::cli
