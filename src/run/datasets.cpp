#include "run/datasets.h"

#include "base/error.h"
#include "base/text.h"
#include "codec/codec.h"
#include "measure/affinity.h"
#include "pipeline/encoded_slot.h"
#include "storage/container.h"

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
    entry = std::make_shared<const storage::DatasetVariant>(open(settings, variant));
  }
  return entry;
}

storage::DatasetVariant Datasets::open(const plan::CellSettings& settings,
                                       const std::string& variant) const {
  const std::string folder = folder_.string();
  if (!storage::is_image_folder(folder_)) {
    return storage::open_dataset(folder_, variant);
  }
  const codec::Format* format = codec::find_picture_format(settings.data);
  if (!settings.mixed_sizes || format == nullptr || settings.detail != "medium" ||
      settings.container != storage::containers().front().name) {
    throw Error(
        folder, "holds no dataset.json: it is not a dataset, or a folder of your own pictures",
        "make a dataset: `feedrate gen DIR`; pictures of your own are read with --data jpeg "
        "(png, bmp) --image-size mixed --container files");
  }
  std::vector<std::string_view> endings{format->extension};
  if (!format->other_extension.empty()) endings.push_back(format->other_extension);
  return storage::list_image_folder(folder_, endings, measure::allowed_cpus(), progress_);
}

std::optional<std::string> Datasets::manifest_of(const std::string& variant) const {
  const auto found = variants_.find(variant);
  if (found == variants_.end() || !found->second) return std::nullopt;
  return found->second->manifest_xxh3;
}

std::size_t encoded_slot_of(const plan::CellSettings& settings,
                            const storage::DatasetVariant* dataset) {
  if (dataset == nullptr) return 0;
  if (settings.raw_read) return pipeline::encoded_slot_for(0);
  return settings.decode_on_device ? pipeline::encoded_slot_for(storage::largest_sample(*dataset))
                                   : 0;
}

}  // namespace feedrate::run
