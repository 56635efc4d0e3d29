#include "run/datasets.h"

#include <algorithm>

#include "base/error.h"
#include "pipeline/encoded_slot.h"

namespace feedrate::run {

std::shared_ptr<const storage::DatasetVariant> Datasets::of(const plan::CellSettings& settings) {
  const std::string variant = settings.variant();
  if (variant.empty()) return nullptr;
  auto& entry = variants_[variant];
  if (!entry) {
    if (folder_.empty()) {
      throw UsageError("--dataset", "is needed for --data " + settings.data,
                       "make one with `feedrate gen DIR` and give its folder");
    }
    entry =
        std::make_shared<const storage::DatasetVariant>(storage::open_dataset(folder_, variant));
  }
  return entry;
}

std::optional<std::string> Datasets::manifest_of(const std::string& variant) const {
  const auto found = variants_.find(variant);
  if (found == variants_.end() || !found->second) return std::nullopt;
  return found->second->manifest_xxh3;
}

std::size_t encoded_slot_of(const plan::CellSettings& settings,
                            const storage::DatasetVariant* dataset) {
  if (!settings.decode_on_device || dataset == nullptr) return 0;
  std::size_t largest = 0;
  for (const storage::SampleFile& file : dataset->samples)
    largest = std::max<std::size_t>(largest, file.bytes);
  return pipeline::encoded_slot_for(largest);
}

}  // namespace feedrate::run
