#include "storage/gen_command.h"

#include <algorithm>
#include <system_error>

#include "base/text.h"
#include "storage/dataset_record.h"
#include "storage/variant_name.h"

namespace feedrate::storage {
namespace {

using Made = std::map<std::string, std::string>;

std::string made_with(const Made& made, const std::string& key) {
  const auto found = made.find(key);
  return found == made.end() ? std::string() : found->second;
}

// Which pictures: nothing is said of a source that is not known, unless the size needs one.
std::string source_words(const VariantName& asked, const Made& made) {
  const std::string source = made_with(made, "source");
  if (source.empty()) return asked.size == kMixedSizes ? " --like imagenet" : "";
  if (!is_generated(source)) return " --from " + shell_word(source);
  return source == kLikeImagenet ? " --like imagenet" : "";
}

// What would make another dataset, were it left out.
std::string option_words(const Made& made) {
  struct Option {
    const char *key, *words;
    std::string usual;
  };
  const Option options[] = {{"count", " --count ", std::to_string(kUsualCount)},
                            {"classes", " --classes ", std::to_string(kUsualClasses)},
                            {"seed", " --seed ", "0"},
                            {"bytes_per_sample", " --bytes-per-sample ", "0"},
                            {"jpeg_quality", " --quality ", "90"},
                            {"subsampling", " --subsampling ", "420"},
                            {"png_level", " --png-level ", "6"}};
  const std::string source = made_with(made, "source");
  const bool is_from = !source.empty() && !is_generated(source);
  std::string words;
  for (const Option& option : options) {
    const std::string value = made_with(made, option.key);
    // "own": each picture of --like imagenet has its own. Those of a folder have its classes.
    if (value.empty() || value == "own" || value == option.usual) continue;
    if (is_from && std::string_view(option.key) == "classes") continue;
    words += option.words + shell_word(value);
  }
  return words;
}

}  // namespace

std::string gen_command(const std::filesystem::path& data, std::string_view variant,
                        const Made& made) {
  std::string command = "feedrate gen " + shell_word(data.string());
  VariantName asked = variant_name_from(variant);
  if (asked.size.empty()) return command;
  if (!asked.container.empty()) command += " --container " + asked.container;
  if (asked.dtype.empty()) {
    command += " --format " + asked.format + " --image-size " + asked.size;
  } else {
    command += " --format tensor --tensor-dtype " + asked.dtype + " --input-size " + asked.size;
    // The pictures: their size and detail.
    asked = variant_name_from("/" + made_with(made, "made_from"));
    if (!asked.size.empty()) command += " --image-size " + asked.size;
  }
  if (!asked.detail.empty()) command += " --detail " + asked.detail;
  return command + source_words(asked, made) + option_words(made);
}

std::string gen_command(const DatasetVariant& variant) {
  const std::filesystem::path& folder = variant.folder;  // DATA/FORMAT/WxH
  const std::filesystem::path format = folder.parent_path();
  return gen_command(format.parent_path(), (format.filename() / folder.filename()).string(),
                     variant.made);
}

std::set<std::string> repair_commands(const std::filesystem::path& data,
                                      const std::vector<std::string>& damaged) {
  std::set<std::string> commands;
  std::error_code ignored;
  if (damaged.empty() || !std::filesystem::exists(data / "dataset.json", ignored)) return commands;
  const DatasetRecord record = read_dataset_record(data);
  for (const auto& [name, variant] : record.variants) {
    const std::string below = (data / name).string() + "/";
    const auto is_of_it = [&](const std::string& file) {
      // A manifest that is damaged vouches for nothing: files are not to be checked against it.
      return (file.starts_with(below) || file.starts_with(name + "/")) &&
             file.find("/files.tsv") == std::string::npos;
    };
    if (variant_name_from(name).container.empty() && std::ranges::any_of(damaged, is_of_it))
      commands.insert(gen_command(data, name, made_of(record, name)) + " --repair");
  }
  return commands;
}

}  // namespace feedrate::storage
