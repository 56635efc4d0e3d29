#include "storage/dataset.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <string>
#include <system_error>
#include <vector>

#include "base/closest.h"
#include "base/file_remedy.h"
#include "base/text.h"
#include "storage/container.h"
#include "storage/gen_command.h"
#include "storage/manifest.h"
#include "storage/no_folder.h"
#include "storage/variant_name.h"

namespace feedrate::storage {
namespace {

namespace fs = std::filesystem;

void check_present(const fs::path& data, const std::string& variant) {
  refuse_no_folder(data);
  const std::string remedy = "make it: " + gen_command(data, variant);
  std::error_code error;
  if (!fs::is_directory(data, error)) {
    const bool is_missing = !error || error == std::errc::no_such_file_or_directory;
    if (is_missing) {
      const std::string meant = did_you_mean_folder(data);
      throw Error(data.string(), "no such folder", meant.empty() ? remedy : meant);
    }
    refuse_reading(data.string(), error.message(), error.value(), "give another folder");
  }
  if (!fs::exists(data / "dataset.json", error)) {
    if (error) refuse_reading(data.string(), error.message(), error.value(), "give another folder");
    throw Error(data.string(), "not a dataset: it holds no dataset.json", remedy);
  }
}

// What there is in place of a variant: the others of its format, or else of its container. All of
// them would be a long line.
std::string near_to(std::string_view name, const DatasetRecord& record) {
  if (record.variants.empty()) return "it has no variant at all";
  const auto named = std::views::keys(record.variants);
  const auto those = [&, wanted = variant_name_from(name)](std::string VariantName::* part) {
    std::vector<std::string> found;
    std::ranges::copy_if(named, std::back_inserter(found), [&](const std::string& other) {
      return variant_name_from(other).*part == wanted.*part;
    });
    return found;
  };
  std::vector<std::string> near = those(&VariantName::format);
  if (near.empty()) near = those(&VariantName::container);
  return near.empty() ? "and nothing else of its format or container" : "it has " + listed(near);
}

bool holds_format(const DatasetRecord& record, const std::string& format) {
  return std::ranges::any_of(std::views::keys(record.variants), [&](const std::string& name) {
    return variant_name_from(name).format == format;
  });
}

// A dataset's pictures have one source, which no option changes: what that does not have cannot be
// added to it.
std::string make_it(const fs::path& data, const std::string& name, const DatasetRecord& record) {
  const bool is_from = !is_generated(record.source);
  const VariantName wanted = variant_name_from(name);
  if (is_from && !wanted.detail.empty())
    return "pictures of a folder are as they are: leave --detail out";
  if (!is_from && record.source != kLikeImagenet && wanted.size == kMixedSizes)
    return std::string(holds_format(record, wanted.format)
                           ? "name one of its sizes with --image-size, or make another dataset: "
                           : "its pictures have one size, so make another dataset: ") +
           gen_command("OTHER", name);
  return "make it: " + gen_command(data, name, made_of(record, name));
}

const VariantRecord& find_variant(const fs::path& data, const DatasetRecord& record,
                                  const std::string& name) {
  const auto found = record.variants.find(name);
  if (found == record.variants.end()) {
    throw MissingVariant(data.string(), "has no " + name + ", " + near_to(name, record),
                         make_it(data, name, record));
  }
  if (!found->second.complete) {
    throw Error(
        (data / name).string(), "not complete: `feedrate gen` was interrupted",
        "run it again with the same options: " + gen_command(data, name, made_of(record, name)));
  }
  return found->second;
}

void check_size(const DatasetVariant& variant, const SampleFile& sample) {
  const fs::path path = variant.folder / sample.path;
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  if (!error && bytes == sample.bytes) return;
  const std::string wrong =
      error ? error.message()
            : std::to_string(bytes) + " bytes instead of " + std::to_string(sample.bytes);
  const bool is_unreadable = !cure_of_reading(error.value()).empty();
  refuse_reading(path.string(), (is_unreadable ? "" : "not as the manifest has it: ") + wrong,
                 error.value(),
                 "`feedrate verify` lists what else is damaged, `feedrate gen` makes it again");
}

}  // namespace

std::string with_detail(std::string size, std::string_view detail) {
  if (detail != "medium") size.append("-").append(detail);
  return size;
}

void sum_up(DatasetVariant& variant) {
  variant.total_bytes = variant.largest_bytes = 0;
  for (const SampleFile& sample : variant.samples) {
    variant.total_bytes += sample.bytes;
    variant.largest_bytes = std::max(variant.largest_bytes, sample.bytes);
  }
}

std::size_t stored_files(const DatasetVariant& variant) {
  return variant.packed.empty() ? variant.samples.size() : variant.packed.size();
}

fs::path stored_file(const DatasetVariant& variant, std::size_t i) {
  return variant.folder / (variant.packed.empty() ? variant.samples[i].path : variant.packed[i]);
}

const SampleFile& first_sample_in(const DatasetVariant& variant, std::size_t i) {
  if (variant.packed.empty()) return variant.samples[i];
  return *std::ranges::lower_bound(variant.samples, i, {}, &SampleFile::shard);
}

const std::string& SampleNames::operator()(const SampleFile& sample) {
  if (beginning_ == 0 || sample.shard != shard_) {
    name_.assign(variant_.folder.native());
    if (!name_.ends_with('/')) name_ += '/';
    if (!variant_.packed.empty()) name_.append(variant_.packed[sample.shard]).append(": ");
    beginning_ = name_.size(), shard_ = sample.shard;
  }
  name_.resize(beginning_);
  return name_.append(sample.path);
}

std::string name_sample(const DatasetVariant& variant, const SampleFile& sample) {
  return SampleNames(variant)(sample);
}

DatasetVariant open_dataset(const fs::path& data, std::string_view variant,
                            bool samples_may_be_bad) {
  const std::string name(variant);
  check_present(data, name);
  const DatasetRecord record = read_dataset_record(data);
  find_variant(data, record, name);
  DatasetVariant opened = read_variant(data, name, record);
  if (opened.samples.empty()) throw Error(opened.folder.string(), "holds no samples");
  if (opened.packed.empty() && !samples_may_be_bad) {
    check_size(opened, opened.samples.front());
    check_size(opened, opened.samples.back());
  }
  return opened;
}

std::vector<std::string> dataset_variants(const fs::path& data) {
  check_present(data, "");
  std::vector<std::string> names;
  for (const auto& [name, variant] : read_dataset_record(data).variants) {
    if (variant.complete) names.push_back(name);
  }
  return names;
}

}  // namespace feedrate::storage
