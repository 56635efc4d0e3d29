#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/dataset.h"

namespace feedrate {

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
  std::string source;  // "generated", or the folder that the pictures come from
  std::int64_t count = 0;
  std::int32_t classes = 0;
  std::map<std::string, std::string> options;     // quality, subsampling, ... as typed
  std::map<std::string, VariantRecord> variants;  // by name, "jpeg/500x375"
};

// Errors: feedrate::Error that names the file, what is wrong with it, and the remedy.
DatasetRecord read_dataset_record(const std::filesystem::path& data);
// Durable and atomic.
void write_dataset_record(const std::filesystem::path& data, const DatasetRecord& record);

// DATA/VARIANT/files.tsv. Reading checks the whole text against `variant` (hash, number of files
// and bytes) and every line: form, labels below `classes`, a path that stays inside the folder.
// Errors: feedrate::Error that names the file, the line and the remedy.
std::vector<SampleFile> read_manifest(const std::filesystem::path& data, const std::string& name,
                                      const VariantRecord& variant, std::int32_t classes);
// A variant that dataset.json has, by its manifest; nothing else of it is looked at. Errors: as read_manifest.
DatasetVariant read_variant(const std::filesystem::path& data, const std::string& name, const DatasetRecord& record);
// Durable and atomic; returns the complete record of what it wrote, made_from left empty.
VariantRecord write_manifest(const std::filesystem::path& folder,
                             const std::vector<SampleFile>& samples);

// True for a relative path of plain names: no root, no "..", no ".", no control characters.
bool stays_inside(std::string_view path);

// XXH3-64, and as 16 hex digits.
std::uint64_t xxh3_of(std::span<const std::byte> bytes);
std::string to_hex(std::uint64_t hash);

}  // namespace feedrate
