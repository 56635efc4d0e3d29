#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "plan/settings.h"
#include "storage/dataset.h"

namespace feedrate::run {

// The variants of a dataset that cells use, each opened once. Not thread-safe.
class Datasets {
 public:
  explicit Datasets(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // What a cell reads; null for synthetic ones. Throws an Error naming what is missing.
  std::shared_ptr<const storage::DatasetVariant> of(const plan::CellSettings& settings);

  // The hash of a variant's manifest; nothing for one that no cell has used.
  std::optional<std::string> manifest_of(const std::string& variant) const;

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::shared_ptr<const storage::DatasetVariant>> variants_;
};

// Bytes of an encoded slot where the device decodes, enough for the dataset's largest file. 0 for
// all other cells.
std::size_t encoded_slot_of(const plan::CellSettings& settings,
                            const storage::DatasetVariant* dataset);

}  // namespace feedrate::run
