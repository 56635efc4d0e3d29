#include "ledger/reproduction.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "device/registry.h"
#include "ledger/record_json.h"
#include "plan/axes.h"
#include "plan/settings.h"
#include "run/datasets.h"
#include "storage/dataset_record.h"
#include "storage/variant_name.h"

namespace feedrate::ledger {
namespace {

using Json = nlohmann::ordered_json;

// Options of a command whose value is a folder or file of this machine.
constexpr const char* kOutput[] = {"-o", "--output"};
constexpr const char* kConfig[] = {"--config"};
constexpr const char* kDatasetWords[] = {"--dataset"};

// Sets an option's value, in either form ("--x V", "--x=V"). If the option is missing, adds it only
// if `always`.
template <std::size_t N>
void set(Arguments& words, const char* const (&names)[N], const std::string& value, bool always) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const char* name : names) {
      if (words[i] == name && i + 1 < words.size()) {
        words[i + 1] = value;
        return;
      }
      if (words[i].starts_with(std::string(name) + "=")) {
        words[i] = std::string(name) + "=" + value;
        return;
      }
    }
  }
  if (always) words.insert(words.end(), {names[N - 1], value});
}

// A folder of the user's own pictures, read as it lies: no `gen` has made it.
bool is_own_folder(const Json& dataset) {
  return dataset.contains("made") && !dataset["made"].contains("seed");
}

// The words that say which pictures.
void add_size(Arguments& words, const storage::VariantName& pictures) {
  words.insert(words.end(), {"--image-size", pictures.size});
  if (!pictures.detail.empty()) words.insert(words.end(), {"--detail", pictures.detail});
}

// The words of `gen` that make a variant.
Arguments gen_words(const Json& dataset, const std::string& folder) {
  const auto variant = storage::variant_name_from(dataset["variant"].get<std::string>());
  const Json& made = dataset["made"];
  const auto how = [&](const char* key) {
    return made.contains(key) ? made[key].get<std::string>() : std::string();
  };
  Arguments words = {"gen", folder};
  if (!storage::is_generated(how("source")))
    words.insert(words.end(), {"--from", how("source")});
  else
    words.insert(words.end(), {"--seed", how("seed"), "--classes", how("classes")});
  if (how("source").ends_with("like imagenet")) words.insert(words.end(), {"--like", "imagenet"});
  if (made.contains("bytes_per_sample"))
    words.insert(words.end(), {"--bytes-per-sample", how("bytes_per_sample")});
  words.insert(words.end(), {"--count", how("count"), "--png-level", how("png_level"), "--format",
                             variant.format});
  if (how("jpeg_quality") != "own")
    words.insert(words.end(),
                 {"--quality", how("jpeg_quality"), "--subsampling", how("subsampling")});
  if (!variant.container.empty())
    words.insert(words.end(), {"--container", "files," + variant.container});
  if (variant.dtype.empty())
    add_size(words, variant);
  else
    words.insert(words.end(), {"--tensor-dtype", variant.dtype, "--input-size", variant.size}),
        add_size(words, storage::variant_name_from("/" + how("made_from")));
  return words;
}

bool sets_option(const Arguments& words, const std::string& config, const std::string& option) {
  return config.find(option) != std::string::npos ||
         std::ranges::any_of(words, [&](const std::string& word) {
           return word == "--" + option || word.starts_with("--" + option + "=");
         });
}

// How many ranks a launcher had started; 0 if the command itself or its config gives the number, or
// if there was one rank.
int launched_gpus(const Json& record, const Arguments& words, const std::string& config) {
  const int gpus = record["cell"].value("gpus", 1);
  return gpus > 1 && !sets_option(words, config, "gpus") ? gpus : 0;
}

template <typename Value>
bool add_once(std::vector<Value>& list, const Value& value) {
  if (std::ranges::find(list, value) != list.end()) return false;
  list.push_back(value);
  return true;
}

void add_data(std::vector<MeasuredData>& all, const std::string& folder, const Json& record) {
  const auto is_it = [&](const MeasuredData& known) {
    return known.folder == folder && known.dataset["variant"] == record["dataset"]["variant"];
  };
  if (std::ranges::none_of(all, is_it)) all.push_back({folder, record["dataset"], record["cell"]});
}

std::string samples_and_bytes(std::uint64_t samples, std::uint64_t bytes) {
  return std::to_string(samples) + " samples, " + std::to_string(bytes) + " bytes in all";
}

// The values of an axis in the records of a command.
std::set<std::string> values_of(const std::vector<Json>& records, const Json& command,
                                const std::string& axis) {
  std::set<std::string> values;
  for (const Json& record : records) {
    const Json& cell = record["cell"];
    if (record["environment"].value("command", Json()) != command || !cell.contains(axis)) continue;
    if (const Json& value = cell[axis]; !value.is_null())
      values.insert(value.is_string() ? value.get<std::string>() : value.dump());
  }
  return values;
}

// Says what nobody said, where a default hangs on the machine or the data: which device, on it how
// large a batch in which precision, and which pictures of a dataset that holds one kind only.
void say_defaults(Arguments& run, std::vector<std::string>& notes, const std::vector<Json>& records,
                  const Json& command, const std::string& config) {
  constexpr const char* kOfTheData[] = {"image-size", "detail"};
  for (const std::string axis : {"device", "batch-size", "precision", "image-size", "detail"}) {
    const std::set<std::string> values = values_of(records, command, axis);
    if (sets_option(run, config, axis) || values.empty() || *values.begin() == "auto") continue;
    const plan::Axis& known = plan::axis_named(axis);
    const bool has_usual = std::ranges::find(kOfTheData, axis) != std::end(kOfTheData);
    if (values.size() > 1)
      add_once(notes, "its cells have several --" + axis + " that nobody typed: say which");
    else if (!has_usual || *values.begin() != known.canonical(known, std::string(known.fallback)))
      run.insert(run.end(), {"--" + axis, *values.begin()});
  }
}

// Older records do not say what their ceilings' batches showed: it was noise.
bool had_no_pictures(const std::vector<Json>& records, const Json& command) {
  return std::ranges::any_of(records, [&](const Json& record) {
    const std::string device = record["cell"].value("device", "emulated");
    return record["environment"].value("command", Json()) == command &&
           !record["cell"].contains("synthetic") &&
           device::split_device(device).first != "emulated";
  });
}

}  // namespace

std::string check_same(const MeasuredData& data) {
  const bool is_part = data.dataset.value("made", Json::object()).contains("samples");
  const std::size_t part = is_part ? data.dataset["samples"].get<std::size_t>() : 0;
  const auto now = run::Datasets(data.folder, part).of(plan::settings_of(cell_from(data.cell)));
  const std::string then = data.dataset["manifest_xxh3"];
  if (then == now->manifest_xxh3) return "";
  const std::string was = samples_and_bytes(data.dataset["samples"], data.dataset["bytes"]),
                    is = samples_and_bytes(now->samples.size(), now->total_bytes);
  const bool is_own = is_own_folder(data.dataset);
  if (is_own && was == is) {
    return data.folder +
           " has the number of pictures and of bytes that were measured; names, classes or times "
           "differ";
  }
  throw Error(is_own ? data.folder : data.folder + "/" + data.dataset["variant"].get<std::string>(),
              "is not what was measured: " + is + "; then " + was +
                  (is_own ? "" : " (manifest " + now->manifest_xxh3 + ", then " + then + ")"),
              "to measure it all the same, carry out what is printed without --run");
}

Reproduction reproduction_of(const std::vector<Json>& records, const std::string& dataset,
                             const std::string& output) {
  Reproduction reproduction;
  std::vector<Arguments> typed;
  for (const Json& record : records) {
    const Json& environment = record["environment"];
    if (!environment.contains("command")) {
      throw Error("the ledger", "does not say how it was made: an older feedrate wrote it",
                  "make it anew; its cells are in it: `cell`, `limits`, `seed`");
    }
    const Json& data = record["dataset"];
    const std::string folder =
        !dataset.empty() || !data.is_object() ? dataset : data["path"].get<std::string>();
    if (data.is_object()) {
      add_data(reproduction.data, folder, record);
      if (folder.find(kNoUtf8) != std::string::npos)
        add_once(reproduction.notes, "the name of " + folder +
                                         " is no UTF-8, and was not kept as it is: give the "
                                         "folder, --dataset DIR");
      const bool is_generated = !is_own_folder(data);
      if (data.contains("made") && is_generated)
        add_once(reproduction.datasets, gen_words(data, folder));
      if (data.contains("made") &&
          !storage::is_generated(data["made"].value("source", "generated"))) {
        add_once(reproduction.notes,
                 std::string(
                     "the pictures come from a folder, which has to be there and hold the same"));
      }
    }
    const Arguments words = first_typed(environment["command"].get<Arguments>());
    if (!add_once(typed, words)) continue;
    const std::string config = environment.contains("config") && environment["config"].is_string()
                                   ? environment["config"].get<std::string>()
                                   : "";
    Arguments run = words;
    set(run, kOutput, output, true);
    if (!folder.empty()) set(run, kDatasetWords, folder, !dataset.empty());
    if (!config.empty())
      set(run, kConfig, output + "/config-" + std::to_string(reproduction.runs.size()) + ".toml",
          false);
    if (const int gpus = launched_gpus(record, words, config); gpus > 0) {
      run.insert(run.end(), {"--gpus", std::to_string(gpus)});
      add_once(reproduction.notes, "a launcher (torchrun, mpirun, srun) had started its " +
                                       std::to_string(gpus) +
                                       " ranks; so they start on this machine");
    }
    say_defaults(run, reproduction.notes, records, environment["command"], config);
    if (had_no_pictures(records, environment["command"]))
      run.insert(run.end(), {"--synthetic", "noise"});
    if (!reproduction.runs.empty()) run.push_back("--resume");  // into the same ledger
    reproduction.runs.push_back(run);
    reproduction.configs.push_back(config);
  }
  return reproduction;
}

Arguments first_typed(Arguments words) {
  std::erase_if(words, [](const std::string& word) {
    return word == "--dry-run" || word == "--resume" || word == "--force-resume";
  });
  return words;
}

std::string shell_line(const Arguments& words) {
  std::string line = "feedrate";
  for (const std::string& word : words) line += ' ' + shell_word(word);
  return line;
}

}  // namespace feedrate::ledger
