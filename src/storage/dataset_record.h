#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace feedrate::storage {

// What DATA/dataset.json says of one variant.
struct VariantRecord {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::string files_xxh3;  // of its files.tsv; empty while incomplete
  std::string
      made_from;  // "500x375": the picture size that a tensor's pixels come from, else empty
  bool complete = false;
};

// DATA/dataset.json: schema "feedrate.dataset/1".
struct DatasetRecord {
  std::uint64_t seed = 0;
  std::string source;  // "generated ...", or the folder that the pictures come from
  std::int64_t count = 0;
  std::int32_t classes = 0;
  std::map<std::string, std::string> options;     // quality, subsampling, ... as typed
  std::map<std::string, VariantRecord> variants;  // by name, "jpeg/500x375"
};

// Whether pictures of this DatasetRecord::source need nothing but their options to be made again.
inline bool is_generated(std::string_view source) { return source.starts_with("generated"); }
// The one of pictures that have ImageNet's sizes.
inline constexpr std::string_view kLikeImagenet = "generated like imagenet";

// DatasetVariant::made of a variant, also of one that is not there yet.
std::map<std::string, std::string> made_of(const DatasetRecord& record, const std::string& variant);

// Errors: feedrate::Error that names the file, what is wrong with it, and the remedy.
DatasetRecord read_dataset_record(const std::filesystem::path& data);
// Durable and atomic.
void write_dataset_record(const std::filesystem::path& data, const DatasetRecord& record);

}  // namespace feedrate::storage
