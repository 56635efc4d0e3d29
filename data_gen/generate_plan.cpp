#include "data_gen/generate_plan.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string>
#include <system_error>
#include <vector>

#include "base/closest.h"
#include "base/file_remedy.h"
#include "base/text.h"
#include "data_gen/generate_folder.h"
#include "data_gen/generate_pack.h"
#include "storage/image_folder.h"
#include "storage/no_folder.h"
#include "storage/tar_shards.h"

namespace feedrate::data_gen {
namespace {

namespace fs = std::filesystem;

void check_sizes(const std::vector<codec::PixelSize>& sizes, const char* option,
                 bool may_be_mixed) {
  for (const codec::PixelSize size : sizes) {
    if (size == kMixedSize && may_be_mixed) continue;
    if (size.width <= 0 || size.height <= 0 ||
        std::int64_t{size.width} * size.height > codec::kMaxPixels || size.width > 65500 ||
        size.height > 65500) {
      throw UsageError(std::string(option) + " " + codec::to_string(size),
                       "no size that can be stored",
                       "choose 1 to 65500 pixels a side, at most 8192x8192 in all");
    }
  }
}

// What only generated pictures have, or only those of other sources.
void check_pictures(const GenerateOptions& options) {
  const bool mixed =
      std::ranges::find(options.image_sizes, kMixedSize) != options.image_sizes.end();
  if (mixed && !options.like_imagenet && !options.from) {
    throw UsageError("image-size mixed", "generated pictures have one size",
                     "add --like imagenet, or --from DIR");
  }
  if (options.like_imagenet && options.from) {
    throw UsageError("like imagenet", "pictures of --from are as they are", "leave one out");
  }
  if (options.like_imagenet && options.bytes_per_sample > 0) {
    throw UsageError("bytes-per-sample", "--like imagenet has ImageNet's own bytes",
                     "leave one out");
  }
  if (options.bytes_per_sample < 0) {
    throw UsageError("bytes-per-sample " + std::to_string(options.bytes_per_sample),
                     "is no number of bytes", "e.g. 114660");
  }
  if (options.details.empty()) throw UsageError("detail", "none given", "e.g. medium");
  for (const std::string& detail : options.details) {
    if (std::ranges::find(storage::kDetails, detail) == storage::kDetails.end()) {
      throw UsageError("detail " + detail, "no such detail",
                       "choose among " + listed(storage::kDetails));
    }
    if (options.from && detail != "medium") {
      throw UsageError("detail " + detail, "pictures of --from are as they are", "leave one out");
    }
  }
}

void check_options(const GenerateOptions& options) {
  if (const std::string data = options.data.string(); storage::is_url(data)) {
    throw UsageError(
        data, "is a URL",
        "feedrate writes folders: mount it, or make the dataset elsewhere and copy it");
  }
  if (options.formats.empty()) throw UsageError("format", "none given", "e.g. jpeg,png,tensor");
  for (const std::string& name : options.formats) {
    if (name == "tensor" || codec::find_picture_format(name) != nullptr) continue;
    std::vector<std::string> known = {"tensor"};
    for (const codec::Format& format : codec::picture_formats()) known.emplace_back(format.name);
    const std::string meant = did_you_mean(name, known);
    throw UsageError("format " + name, "no such format",
                     meant.empty() ? "choose among " + listed(known) : meant);
  }
  for (const std::string& name : options.containers) {
    if (storage::find_container(name) != nullptr) continue;
    throw UsageError("container " + name, "no such container",
                     "choose among " + listed(storage::containers(), &storage::Container::name));
  }
  check_pictures(options);
  if (options.image_sizes.empty()) throw UsageError("image-size", "none given", "e.g. 500x375");
  check_sizes(options.image_sizes, "image-size", true);
  check_sizes(options.input_sizes, "input-size", false);
  if (options.count < 0 || (options.count == 0 && !options.from)) {
    throw UsageError("count " + std::to_string(options.count), "not a number of pictures");
  }
  if (options.classes < 1 || options.classes > 1'000'000) {
    throw UsageError("classes " + std::to_string(options.classes), "not from 1 to 1000000");
  }
  if (options.tensor_dtypes.empty()) throw UsageError("tensor-dtype", "none given", "e.g. uint8");
  // Encodes one pixel, so that a wrong quality, subsampling or level is found before the first
  // file.
  const std::uint8_t pixel[3] = {};
  std::vector<std::byte> ignored;
  for (const codec::Format& format : codec::picture_formats()) {
    format.encode({pixel, 3, 1, 1}, options.encode, ignored);
  }
}

// Pictures that the program wrote itself must not become its input when it is run again.
void check_apart(const fs::path& data, const fs::path& from) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(from, error);
  if (error)
    refuse_reading(from.string(), error.message(), error.value(),
                   "name a folder of pictures that can be read");
  const fs::path below = fs::weakly_canonical(data, error).lexically_relative(real);
  if (!below.empty() && *below.begin() != "..") {
    throw UsageError(data.string(), "lies inside the folder that the pictures come from",
                     "choose a folder outside " + from.string());
  }
}

storage::DatasetRecord new_record(const GenerateOptions& options, const PictureSource& source) {
  storage::DatasetRecord record;
  record.seed = options.from ? 0 : options.seed;  // pictures of a folder depend on no seed
  record.source = source.name();
  record.count = source.count();
  record.classes = source.classes();
  record.options["jpeg_quality"] = std::to_string(options.encode.jpeg_quality);
  record.options["png_level"] = std::to_string(options.encode.png_level);
  record.options["source_files"] = source.fingerprint();
  record.options["subsampling"] = options.encode.subsampling;
  if (options.like_imagenet)  // each picture has its own
    record.options["jpeg_quality"] = record.options["subsampling"] = "own";
  if (options.bytes_per_sample > 0)
    record.options["bytes_per_sample"] = std::to_string(options.bytes_per_sample);
  return record;
}

// One dataset has one way of being made; a second run may only add variants to it.
void check_same(const fs::path& data, const storage::DatasetRecord& made,
                const storage::DatasetRecord& asked) {
  const auto compare = [&](const std::string& what, const std::string& old_value,
                           const std::string& new_value) {
    if (old_value == new_value) return;
    throw Error(data.string(),
                "holds a dataset made with " + what + " " + old_value + ", not " + new_value,
                "choose another folder, or the same options");
  };
  compare("source", made.source, asked.source);
  compare("seed", std::to_string(made.seed), std::to_string(asked.seed));
  compare("count", std::to_string(made.count), std::to_string(asked.count));
  compare("classes", std::to_string(made.classes), std::to_string(asked.classes));
  const auto value_in = [](const storage::DatasetRecord& record, const std::string& key) {
    const auto found = record.options.find(key);
    return found == record.options.end() ? "none" : found->second;
  };
  for (const auto* record : {&made, &asked}) {
    for (const auto& [key, value] : record->options)
      compare(key, value_in(made, key), value_in(asked, key));
  }
}

template <typename Value>
void push_once(std::vector<Value>& list, Value value) {
  const auto same = [&](const Value& other) { return other.name == value.name; };
  if (std::ranges::none_of(list, same)) list.push_back(std::move(value));
}

// The largest pictures: mixed ones, which are as large as they come, last.
PictureKind tensor_origin(const GenerateOptions& options, const storage::DatasetRecord& record,
                          const PlannedVariant& tensor) {
  const auto recorded = record.variants.find(tensor.name);
  if (recorded != record.variants.end() && !recorded->second.made_from.empty()) {
    return picture_kind_from(recorded->second.made_from);
  }
  const auto& sizes = options.image_sizes;
  if (std::ranges::find(sizes, tensor.size) != sizes.end()) return {tensor.size};
  return {*std::ranges::max_element(
      sizes, {}, [](codec::PixelSize size) { return std::int64_t{size.width} * size.height; })};
}

std::vector<PictureKind> kinds_of(const GenerateOptions& options) {
  std::vector<PictureKind> kinds;
  for (const codec::PixelSize size : options.image_sizes) {
    for (const std::string& detail : options.details) kinds.push_back({size, detail});
  }
  return kinds;
}

std::vector<PlannedVariant> list_variants(const GenerateOptions& options,
                                          const storage::DatasetRecord& record) {
  std::vector<PlannedVariant> variants;
  for (const std::string& name : options.formats) {
    if (name != "tensor") {
      for (const PictureKind& kind : kinds_of(options)) {
        push_once(variants, {.name = name + "/" + to_string(kind),
                             .format = codec::find_picture_format(name),
                             .size = kind.size,
                             .made_from = kind});
      }
      continue;
    }
    const auto& sizes = options.input_sizes.empty() ? options.image_sizes : options.input_sizes;
    for (const codec::Dtype dtype : options.tensor_dtypes) {
      for (const codec::PixelSize size : sizes) {
        if (size == kMixedSize) continue;  // a batch of tensors has one size
        PlannedVariant tensor{
            .name = "tensor-" + std::string(codec::name_of(dtype)) + "/" + codec::to_string(size),
            .dtype = dtype,
            .size = size};
        tensor.made_from = tensor_origin(options, record, tensor);
        push_once(variants, std::move(tensor));
      }
    }
  }
  return variants;
}

// The manifest of a variant that was complete, by index; empty if there is none to rely on: its
// files are then judged by their contents. Errors: UnreadableError.
std::vector<storage::SampleFile> known_files(const GeneratePlan& plan, const std::string& name) {
  const auto recorded = plan.record.variants.find(name);
  if (recorded == plan.record.variants.end() || !recorded->second.complete) return {};
  try {
    auto known = storage::read_manifest(plan.data, name, recorded->second, plan.record.classes);
    if (static_cast<std::int64_t>(known.size()) == plan.source->count()) return known;
  } catch (const UnreadableError&) {
    throw;
  } catch (const Error&) {
  }
  return {};
}

// What there is of a variant, by name and size alone; contents are looked at when it is worked on.
// Errors: UnreadableError: what the storage does not give may be there all the same.
void survey(const GeneratePlan& plan, PlannedVariant& variant) {
  variant.known = known_files(plan, variant.name);
  const std::int64_t count = plan.source->count();
  const fs::path folder = plan.data / variant.name;
  plan.news.waits_for(folder.string());
  std::error_code absent;
  if (!fs::exists(folder, absent)) {
    refuse_unreadable(folder.string(), absent);
    variant.missing = count;
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    std::error_code error;
    const fs::path path = folder / sample_path(*plan.source, i, variant);
    plan.news.waits_for(path.string());
    const auto bytes = fs::file_size(path, error);
    refuse_unreadable(path.string(), error);
    const auto index = static_cast<std::size_t>(i);
    if (error || (!variant.known.empty() && variant.known[index].bytes != bytes)) ++variant.missing;
  }
}

const codec::Format& format_of(std::string_view picture) {
  return *std::ranges::find_if(codec::picture_formats(),
                               [&](const codec::Format& format) { return format.names(picture); });
}

[[noreturn]] void refuse_pictures(const std::string& data, const std::string& picture) {
  const std::string_view format = format_of(picture).name;
  std::string remedy = "choose another folder; or read it as it lies: feedrate run --dataset " +
                       shell_word(data) + " --data " + std::string(format) + " --image-size mixed";
  if (reads_format(format))
    remedy += "; or take them: feedrate gen OTHER --from " + shell_word(data);
  throw UsageError(data, "holds pictures of your own (" + printable(picture, 80) + ")", remedy);
}

// A dataset.json beside the user's pictures would make `run` take all for a dataset. Samples of an
// interrupted `gen` whose dataset.json is gone are not the user's: they are kept. Nor is another
// dataset that lies below.
void refuse_own_pictures(const GeneratePlan& plan) {
  const auto listing = [&](std::uint64_t) { plan.news.waits_for(plan.data.string()); };
  if (!storage::is_image_folder(plan.data, listing)) return;
  const auto is_gens = [&](const std::string& folder) {
    std::error_code ignored;
    return std::ranges::find(plan.variants, folder, &PlannedVariant::name) != plan.variants.end() ||
           fs::exists(plan.data / folder / "dataset.json", ignored);
  };
  const std::string data = plan.data.string();
  const std::string picture =
      storage::find_picture(plan.data, codec::picture_endings(), is_gens, listing);
  if (!picture.empty()) refuse_pictures(data, picture);
  const std::string shard = storage::find_tar_shard(plan.data);
  if (shard.empty()) return;
  throw UsageError(data, "holds tar shards of your own (" + printable(shard, 80) + ")",
                   "choose another folder; or read it as it lies: feedrate run --dataset " +
                       shell_word(data) + " --data jpeg --image-size mixed --container webdataset");
}

}  // namespace

GeneratePlan begin_plan(const GenerateOptions& options, const PictureCheck& check) {
  check_options(options);
  GeneratePlan plan;
  plan.data = options.data;
  plan.encode = options.encode;
  plan.bytes_per_sample = options.bytes_per_sample;
  plan.news = options.news;
  if (options.from) {
    plan.news.waits_for(options.from->string());
    storage::refuse_no_folder(*options.from);
    check_apart(options.data, *options.from);
    plan.source = make_folder_source(*options.from, options.count, check);
  } else if (options.like_imagenet) {
    plan.source = make_imagenet_like_source(options.seed, options.count, options.classes);
  } else {
    plan.source = make_synthetic_source(options.seed, options.count, options.classes);
  }
  return plan;
}

void survey_folder(GeneratePlan& plan, const GenerateOptions& options) {
  plan.record = new_record(options, *plan.source);
  std::error_code error;
  const fs::path record = plan.data / "dataset.json";
  const bool is_there = fs::exists(record, error);
  refuse_unreadable(record.string(), error);
  if (is_there) {
    storage::DatasetRecord made = storage::read_dataset_record(plan.data);
    check_same(plan.data, made, plan.record);
    plan.record = std::move(made);
  }
  plan.variants = list_variants(options, plan.record);
  if (!is_there) refuse_own_pictures(plan);
  plan.packs = list_packs(plan, options.containers);
  for (PlannedVariant& variant : plan.variants) {
    survey(plan, variant);
    const std::string kind = to_string(variant.made_from);
    if (!plan.jpegs.contains(kind)) plan.jpegs[kind] = known_files(plan, "jpeg/" + kind);
  }
}

codec::PixelSize sample_size(const PictureSource& source, std::int64_t index,
                             codec::PixelSize size) {
  return size == kMixedSize ? source.size(index) : size;
}

std::string sample_stem(const PictureSource& source, std::int64_t index) {
  char number[32];
  std::snprintf(number, sizeof number, "%06lld", static_cast<long long>(index));
  return source.class_folder(source.label(index)) + "/" + number;
}

std::string_view extension_of(const PlannedVariant& variant) {
  return variant.format != nullptr ? variant.format->extension : ".tensor";
}

std::string sample_path(const PictureSource& source, std::int64_t index,
                        const PlannedVariant& variant) {
  return sample_stem(source, index).append(extension_of(variant));
}

}  // namespace feedrate::data_gen
