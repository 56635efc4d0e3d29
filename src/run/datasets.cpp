#include "run/datasets.h"

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "codec/any_picture.h"
#include "device/accelerator.h"
#include "measure/affinity.h"
#include "pipeline/encoded_slot.h"
#include "run/dataset_part.h"
#include "storage/container.h"
#include "storage/own_folder.h"
#include "storage/variant_name.h"

namespace feedrate::run {
namespace {

// "jpeg 1281166, png 1": of pictures whose names end as those of that format.
std::string formats_by_ending(const std::vector<storage::SampleFile>& samples) {
  const auto formats = codec::picture_formats();
  std::vector<std::size_t> counts(formats.size());
  for (const storage::SampleFile& sample : samples) {
    for (std::size_t i = 0; i < formats.size(); ++i) {
      if (!formats[i].names(sample.path)) continue;
      ++counts[i];
      break;  // png and png0 share an ending
    }
  }
  std::string text;
  for (std::size_t i = 0; i < formats.size(); ++i) {
    if (counts[i] == 0) continue;
    text.append(text.empty() ? "" : ", ").append(formats[i].name);
    text.append(" ").append(std::to_string(counts[i]));
  }
  return text;
}

// The pictures of a dataset of gen's have one format, which has to be named.
void refuse_any_picture(const std::filesystem::path& folder, const std::string& variant) {
  std::error_code ignored;
  if (std::filesystem::exists(folder / variant, ignored)) return;  // a copy of a user's own
  std::set<std::string> formats;
  for (const std::string& name : storage::dataset_variants(folder))
    formats.insert(storage::variant_name_from(name).format);
  throw storage::MissingVariant(
      folder.string(), "was made by `feedrate gen`, and --data auto reads pictures of your own",
      "name a format that is in it: " + listed(formats));
}

// Where both lie there, the folder is one kind (OwnFolder) for all cells: those that read no
// storage have no container to say another.
void refuse_other_kind(const std::filesystem::path& folder, const storage::OwnFolder& found,
                       bool wants_shards) {
  const bool holds_both = found.shards > 0 && (found.has_classes || found.pictures > 0);
  if (!holds_both || wants_shards == found.are_shards()) return;
  const std::string pictures = found.shards > found.pictures && found.has_classes
                                   ? "class folders"
                                   : "pictures (" + std::to_string(found.pictures) + ")";
  const std::string both =
      "holds " + pictures + " and tar files (" + std::to_string(found.shards) + "): it is read as ";
  const std::string use = "use --container ", into = " into a folder of their own";
  if (wants_shards) {
    throw Error(
        folder.string(), both + "pictures",
        use + std::string(storage::containers().front().name) + ", or put the tar files" + into);
  }
  throw Error(folder.string(), both + "shards",
              use + std::string(storage::kShardsContainer) + ", or put the pictures" + into);
}

}  // namespace

std::shared_ptr<const storage::DatasetVariant> Datasets::of(const plan::CellSettings& settings) {
  const std::string variant = settings.variant();
  if (variant.empty()) return nullptr;
  auto& entry = variants_[variant];
  if (!entry) {
    if (folder_.empty()) {
      throw UsageError("--dataset", "is needed for --data " + settings.data,
                       "make one with `feedrate gen DIR` and give its folder");
    }
    storage::DatasetVariant opened = open(settings, variant);
    keep_part(opened, part_);
    entry = std::make_shared<const storage::DatasetVariant>(std::move(opened));
  }
  return entry;
}

storage::DatasetVariant Datasets::open(const plan::CellSettings& settings,
                                       const std::string& variant) {
  if (storage::is_image_folder(folder_, progress_)) return open_own(settings);
  if (settings.data == codec::kAnyPicture) refuse_any_picture(folder_, variant);
  return storage::open_dataset(folder_, variant, settings.skip_bad);
}

storage::DatasetVariant Datasets::open_own(const plan::CellSettings& settings) {
  const std::string_view files = storage::containers().front().name;
  const std::string_view shards = storage::kShardsContainer;
  const std::vector<std::string_view> endings = codec::endings_of(settings.data);
  if (!settings.mixed_sizes || endings.empty() || settings.detail != "medium" ||
      (settings.container != files && settings.container != shards)) {
    const auto passes_none = [](const std::string&) { return false; };
    const std::vector<std::string_view> pictures = codec::picture_endings();
    const bool are_shards = storage::look_at_own_folder(folder_, pictures, progress_).are_shards();
    // Without pictures, that is what is wrong with it.
    if (!are_shards && storage::find_picture(folder_, pictures, passes_none, progress_).empty())
      storage::list_image_folder(folder_, pictures, measure::allowed_cpus(), progress_);
    if (!are_shards && !settings.mixed_sizes && !endings.empty()) {
      const std::string size = "--image-size " + codec::to_string(settings.image_size);
      throw storage::MissingVariant(
          folder_.string(), "is a folder of pictures of their own sizes, not of " + size,
          "use --image-size mixed; or make a dataset of one size: feedrate gen OUT --from " +
              shell_word(folder_.string()) + " " + size);
    }
    throw storage::MissingVariant(
        folder_.string(),
        "holds no dataset.json: it is not a dataset, or a folder of your own pictures",
        "make a dataset: `feedrate gen DIR`; pictures of your own are read with --data auto "
        "(jpeg, png ...) --image-size mixed --container " +
            std::string(are_shards ? shards : files));
  }
  const int threads = measure::allowed_cpus();
  const storage::OwnFolder found = storage::look_at_own_folder(folder_, endings, progress_);
  // A cell that reads no storage in its steps has no container: what lies there decides.
  const bool are_shards =
      settings.reads_storage() ? settings.container == shards : found.are_shards();
  refuse_other_kind(folder_, found, are_shards);
  const auto note = [&](const std::string& line) {
    if (!was_told_) tell_once(line);
  };
  storage::DatasetVariant own =
      are_shards ? storage::list_tar_shards(folder_, endings, threads, progress_, note, relists_)
                 : storage::list_image_folder(folder_, endings, threads, progress_, note,
                                              {.relist = relists_, .run = listing_run_});
  own.made[storage::kFormats] = formats_by_ending(own.samples);
  if (const std::string line = storage::listing_note(own); !line.empty()) tell_once(line);
  return own;
}

int Datasets::outputs() const {
  int outputs = device::kUsualOutputs;
  for (const auto& [variant, dataset] : variants_)
    if (dataset) outputs = std::max(outputs, dataset->classes);
  return outputs;
}

void Datasets::tell_outputs() {
  const int has = outputs();
  if (has <= device::kUsualOutputs) return;
  tell_once(escaped(folder_.string()) + ": the network has " + std::to_string(has) +
            " outputs, one for each class, not " + std::to_string(device::kUsualOutputs) +
            ": its rates are of that network");
}

std::optional<std::string> Datasets::manifest_of(const std::string& variant) const {
  const auto found = variants_.find(variant);
  if (found == variants_.end() || !found->second) return std::nullopt;
  return found->second->manifest_xxh3;
}

storage::HowListed Datasets::how_listed(const std::string& variant) const {
  if (const auto other = listed_.find(variant); other != listed_.end()) return other->second;
  const auto found = variants_.find(variant);
  return found == variants_.end() || !found->second ? storage::HowListed() : found->second->listed;
}

std::size_t encoded_slot_of(const plan::CellSettings& settings,
                            const storage::DatasetVariant* dataset) {
  if (dataset == nullptr) return 0;
  if (settings.raw_read) return pipeline::encoded_slot_for(0);
  return settings.decode_on_device ? pipeline::encoded_slot_for(dataset->largest_bytes) : 0;
}

}  // namespace feedrate::run
