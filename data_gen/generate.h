#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codec/codec.h"
#include "codec/image.h"
#include "codec/tensor.h"
#include "storage/gen_command.h"

namespace feedrate::data_gen {

// Stands for a size in GenerateOptions::image_sizes: each picture has its own.
inline constexpr codec::PixelSize kMixedSize{};

// What somebody is told who watches that the storage answers. From any thread.
struct StorageNews {
  // The thread waits next for this file or folder, which it reads or writes.
  std::function<void(const std::string&)> waits_for = [](const std::string&) {};
  // It waits next until all that was written to this folder is on the disk.
  std::function<void(const std::string&)> syncs = [](const std::string&) {};
};

struct GenerateOptions {
  std::filesystem::path data;                    // the folder to make
  std::optional<std::filesystem::path> from;     // re-encode these pictures (searched recursively)
  bool like_imagenet = false;                    // sizes and encodings as draw_like_imagenet() has
  std::vector<std::string> formats;              // picture formats and "tensor"
  std::vector<std::string> containers{"files"};  // others hold the same samples once more
  std::vector<codec::PixelSize> image_sizes;     // of the pictures, as stored
  std::vector<std::string> details{"medium"};    // of generated pictures: storage::kDetails
  std::vector<codec::PixelSize> input_sizes;     // of the tensors; empty: native, every image size
  std::vector<codec::Dtype> tensor_dtypes{codec::Dtype::uint8};
  std::int64_t count = storage::kUsualCount;  // pictures; with `from`: at most so many, 0 = all
  int classes = storage::kUsualClasses;       // synthetic pictures' class folders
  std::uint64_t seed = 0;
  int threads = 0;  // 0: one per CPU that this process may use
  codec::EncodeOptions encode;
  std::int64_t bytes_per_sample = 0;  // mean of a JPEG, reached by its quality; 0: as encode says
  bool repair = false;    // read what is there, and make again what its manifest does not know
  bool skip_bad = false;  // leave out pictures of `from` that cannot be decoded
  // Is told of pictures of `from` that are left out, and how many: "PATH: REASON"; may be empty.
  std::function<void(const std::string&, std::int64_t)> on_skipped;
  StorageNews news;
};

struct GenerateProgress {
  bool packing = false;   // samples that are already there go into a container
  bool checking = false;  // the pictures of `from` are decoded once before anything is written
  std::int64_t samples_done = 0;  // of all image sizes together
  std::int64_t samples = 0;
  std::int64_t bytes_written = 0;
};

struct VariantSummary {
  std::string variant;  // "jpeg/500x375"
  std::int64_t files = 0;
  std::uint64_t bytes = 0;
};

// Makes the dataset, or what is missing of it: a sample whose files exist is hashed, not made
// again. Files appear under their final name only when whole (temporary name, then rename). Checks
// first: options, that an existing dataset.json was made with the same options (else an Error names
// the option that differs and the remedy), that the folder can be written, and that the disk has
// space for the estimate. `on_progress` is called from one thread at a time, after each sample by
// the thread that has worked on it; `stop` (may be empty; thread-safe) is polled: when it returns
// true the work ends early, resumable, and an Error("interrupted") is thrown. Pictures of `from`
// that cannot be decoded are found, all of them, before anything is written: an Error lists them
// unless skip_bad.
std::vector<VariantSummary> generate_dataset(
    const GenerateOptions& options, const std::function<void(const GenerateProgress&)>& on_progress,
    const std::function<bool()>& stop);

}  // namespace feedrate::data_gen
