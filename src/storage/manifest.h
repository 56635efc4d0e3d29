#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "storage/dataset.h"
#include "storage/dataset_record.h"

namespace feedrate::storage {

// DATA/VARIANT/files.tsv. Reading checks the whole text against `variant` (hash, number of files
// and bytes) and every line: form, labels below `classes`, a path that stays inside the folder.
// Errors: feedrate::Error that names the file, the line and the remedy.
std::vector<SampleFile> read_manifest(const std::filesystem::path& data, const std::string& name,
                                      const VariantRecord& variant, std::int32_t classes);
// A variant that dataset.json has, by its manifest; nothing else of it is looked at. Errors: as
// read_manifest.
DatasetVariant read_variant(const std::filesystem::path& data, const std::string& name,
                            const DatasetRecord& record);
// Durable and atomic; returns the complete record of what it wrote, made_from left empty.
VariantRecord write_manifest(const std::filesystem::path& folder,
                             const std::vector<SampleFile>& samples);

// A whole text file of a dataset. Errors: feedrate::Error that names it and the remedy.
std::string read_dataset_text(const std::filesystem::path& path);
inline constexpr std::string_view kRestoreDataset =
    "restore it, or remove it and run `feedrate gen` again with the same options: the samples that "
    "exist are kept";

// True for a relative path of plain names: no root, no "..", no ".", no control characters.
bool stays_inside(std::string_view path);

}  // namespace feedrate::storage
