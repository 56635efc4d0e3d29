#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace feedrate::storage {

// SampleFile::changed_ns of a file whose time of change is not known.
inline constexpr std::int64_t kUnknownTime = std::numeric_limits<std::int64_t>::min();

// One stored sample, as its line in the manifest has it.
struct SampleFile {
  std::string path;          // relative to the variant's folder, e.g. "class_007/000123.jpg"
  std::int32_t label = 0;    // index of its class folder, in name order
  std::uint64_t bytes = 0;   // size of the file
  std::uint64_t xxh3 = 0;    // XXH3-64 of the file
  std::uint64_t offset = 0;  // in the packed file that holds it, see PackedLayout
  std::uint32_t shard = 0;   // which of DatasetVariant::packed that is
  // When a file of the user's own was last changed, in ns since 1970, as it was listed: it is read
  // only if it still has that time. Files that `gen` made have none.
  std::int64_t changed_ns = kUnknownTime;
};

struct Container;

// The entry of DatasetVariant::made that a folder of the user's own has: how many of its files are
// of which format, by their names' endings: "jpeg 1281166, png 1".
inline constexpr const char* kFormats = "formats";

// How much there is to see in generated pictures, from little to much: "medium" is that of
// photographs. A variant of another one has it behind its size: "jpeg/500x375-high".
inline constexpr std::array<std::string_view, 5> kDetails{"lowest", "low", "medium", "high",
                                                          "highest"};
// What stands for the size where each picture has its own, as an option and in a variant's name.
inline constexpr std::string_view kMixedSizes = "mixed";
// "500x375", "high" -> "500x375-high".
std::string with_detail(std::string size, std::string_view detail);

// How a process listed a folder of the user's own.
struct HowListed {
  double seconds = 0;  // 0: it has listed none
  std::string text{};  // "listed 1,300,000 files in 41 s (31,707 files/s)"; empty: of few files
};

// One variant of a dataset: the same samples in one format at one size. On disk:
//   DATA/dataset.json            how it was made (seed, source, options), variants with totals
//   DATA/jpeg/500x375/           one variant: "FORMAT/WIDTHxHEIGHT", with class folders as
//                                torchvision's ImageFolder reads them; "FORMAT/mixed" where each
//                                picture has its own size
//   DATA/jpeg/500x375/files.tsv  its manifest; a line is
//                                "path <tab> label <tab> bytes <tab> xxh3 (16 hex)"
//   DATA/tensor-uint8/224x224/   a tensor variant: its format carries its dtype
//   DATA/jpeg.hdf5/500x375/      the same in a container (container.h): files.tsv and the packed
//                                files
struct DatasetVariant {
  std::filesystem::path folder;  // DATA/FORMAT/WxH
  std::vector<SampleFile> samples;
  std::uint64_t total_bytes = 0;
  std::uint64_t largest_bytes = 0;  // of one sample; see sum_up()
  std::string manifest_xxh3;  // 16 hex digits: XXH3-64 of files.tsv; names the data in every result
  int classes = 0;
  const Container* container = nullptr;
  std::map<std::string, std::string>
      made;  // how: source, seed, count, classes, made_from, and the options, as in dataset.json
  // The names, below `folder`, of the files that hold the samples, one or more each, in the
  // samples' order; empty: each sample is a file.
  std::vector<std::string> packed;
  std::vector<std::uint64_t> packed_bytes;  // the length of each, as its container counts it
  HowListed listed{};

  // Whether its files are as somebody else named them, see kFormats: what each holds, its first
  // bytes say.
  bool contents_decide() const { return made.contains(kFormats); }

  // What a sample takes to read, in the mean; 0 of a dataset without samples.
  double bytes_per_sample() const {
    return samples.empty() ? 0
                           : static_cast<double>(total_bytes) / static_cast<double>(samples.size());
  }
};

// Sets what follows from the samples alone: total_bytes and largest_bytes. Once for each dataset:
// every worker asks for them.
void sum_up(DatasetVariant& variant);

// The files that hold the samples, one each, or the packed ones: how many, the i-th, and the first
// sample in it.
std::size_t stored_files(const DatasetVariant& variant);
std::filesystem::path stored_file(const DatasetVariant& variant, std::size_t i);
const SampleFile& first_sample_in(const DatasetVariant& variant, std::size_t i);
// What an error calls a sample: "DATA/jpeg/500x375/class_007/000123.jpg", or
// "DATA/jpeg.tar/500x375/samples.tar: class_007/000123.jpg".
std::string name_sample(const DatasetVariant& variant, const SampleFile& sample);
// The same for one sample after the other, cheap enough to do for each. Not thread-safe.
class SampleNames {
 public:
  explicit SampleNames(const DatasetVariant& variant) : variant_(variant) {}  // which outlives it
  // Valid until the next call.
  const std::string& operator()(const SampleFile& sample);

 private:
  const DatasetVariant& variant_;
  std::string name_;
  std::size_t beginning_ = 0;  // of the name: what it shares with the next one's; 0: no name yet
  std::uint32_t shard_ = 0;
};

// The dataset is there, and what was asked for was never made.
class MissingVariant : public Error {
 public:
  using Error::Error;
};

// Reads a variant's manifest and checks it against dataset.json (complete, same hash) and the first
// and last file against their sizes, unless samples may be bad; reads no sample. Errors:
// feedrate::Error that names what is missing (folder, variant, with the variants that there are)
// and the `feedrate gen` that makes it.
DatasetVariant open_dataset(const std::filesystem::path& data, std::string_view variant,
                            bool samples_may_be_bad = false);

// The variants that DATA/dataset.json lists as complete, e.g. {"jpeg/500x375", "png/500x375"}.
std::vector<std::string> dataset_variants(const std::filesystem::path& data);

}  // namespace feedrate::storage
