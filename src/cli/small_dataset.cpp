#include "cli/small_dataset.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "data_gen/generate.h"
#include "text/progress.h"

namespace feedrate::cli {
namespace {

constexpr int kPictures = 128;

std::filesystem::path new_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "feedrate-XXXXXX").string();
  if (!mkdtemp(name.data()))
    throw Error(name, std::strerror(errno), "name a folder that you may write: TMPDIR");
  return name;
}

}  // namespace

SmallDataset::SmallDataset(bool quiet, std::stop_token stop) : folder_(new_folder()) {
  if (!quiet) {
    std::fprintf(
        stderr,
        "feedrate: no data is named (--data, --dataset): measuring %d generated JPEGs of "
        "ImageNet's sizes\n  in %s, which goes afterwards; for your own pictures: feedrate "
        "run --data jpeg --image-size mixed --dataset DIR\n",
        kPictures, folder_.c_str());
  }
  try {
    make(quiet, stop);
  } catch (...) {
    remove();
    throw;
  }
}

SmallDataset::~SmallDataset() { remove(); }

void SmallDataset::make(bool quiet, const std::stop_token& stop) const {
  data_gen::GenerateOptions options;
  options.data = folder_;
  options.formats = {"jpeg"};
  options.image_sizes = {data_gen::kMixedSize};
  options.like_imagenet = true;
  options.count = kPictures;
  options.classes = 8;
  text::ProgressLine line(quiet);
  data_gen::generate_dataset(
      options,
      [&](const data_gen::GenerateProgress& p) {
        line.show(
            format("making pictures · %d of %d", static_cast<int>(p.samples_done), kPictures));
      },
      [&] { return stop.stop_requested(); });
}

void SmallDataset::remove() noexcept {
  std::error_code ignored;  // it lies where temporary files are cleared away
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace feedrate::cli
