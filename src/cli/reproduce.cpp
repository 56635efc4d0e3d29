#include "cli/reproduce.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "storage/dataset_record.h"

namespace feedrate::cli {
namespace {

using Json = nlohmann::ordered_json;

// Options of a command whose value is a folder or file of this machine.
constexpr const char* kOutput[] = {"-o", "--output"};
constexpr const char* kConfig[] = {"--config"};
constexpr const char* kDatasetWords[] = {"--dataset"};

// Sets an option's value, in either form ("--x V", "--x=V"). If the option is missing, adds it only
// if `always`.
template <std::size_t N>
void set(Words& words, const char* const (&names)[N], const std::string& value, bool always) {
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

// "500x375-high": the words that say which pictures.
void add_size(Words& words, const std::string& kind) {
  const std::size_t dash = std::min(kind.find('-'), kind.size());
  words.insert(words.end(), {"--image-size", kind.substr(0, dash)});
  if (dash < kind.size()) words.insert(words.end(), {"--detail", kind.substr(dash + 1)});
}

// "jpeg.tar/500x375", "tensor-uint8/224x224": the words of `gen` that make it.
Words gen_words(const Json& dataset, const std::string& folder) {
  const std::string variant = dataset["variant"], size = variant.substr(variant.find('/') + 1);
  std::string format = variant.substr(0, variant.find('/')), container, dtype;
  if (const auto dot = format.find('.'); dot != std::string::npos)
    container = format.substr(dot + 1), format.resize(dot);
  if (const auto dash = format.find('-'); dash != std::string::npos)
    dtype = format.substr(dash + 1), format.resize(dash);
  const Json& made = dataset["made"];
  const auto how = [&](const char* key) {
    return made.contains(key) ? made[key].get<std::string>() : std::string();
  };
  Words words = {"gen", folder};
  if (!storage::is_generated(how("source")))
    words.insert(words.end(), {"--from", how("source")});
  else
    words.insert(words.end(), {"--seed", how("seed"), "--classes", how("classes")});
  if (how("source").ends_with("like imagenet")) words.insert(words.end(), {"--like", "imagenet"});
  if (made.contains("bytes_per_sample"))
    words.insert(words.end(), {"--bytes-per-sample", how("bytes_per_sample")});
  words.insert(words.end(),
               {"--count", how("count"), "--png-level", how("png_level"), "--format", format});
  if (how("jpeg_quality") != "own")
    words.insert(words.end(),
                 {"--quality", how("jpeg_quality"), "--subsampling", how("subsampling")});
  if (!container.empty()) words.insert(words.end(), {"--container", "files," + container});
  if (dtype.empty())
    add_size(words, size);
  else
    words.insert(words.end(), {"--tensor-dtype", dtype, "--input-size", size}),
        add_size(words, how("made_from"));
  return words;
}

// How many ranks a launcher had started; 0 if the command itself or its config gives the number, or
// if there was one rank.
int launched_gpus(const Json& record, const Words& words, const std::string& config) {
  const int gpus = record["cell"].value("gpus", 1);
  const bool said = std::ranges::any_of(words, [](const std::string& word) {
    return word == "--gpus" || word.starts_with("--gpus=");
  });
  return gpus > 1 && !said && config.find("gpus") == std::string::npos ? gpus : 0;
}

template <typename Value>
bool add_once(std::vector<Value>& list, const Value& value) {
  if (std::ranges::find(list, value) != list.end()) return false;
  list.push_back(value);
  return true;
}

}  // namespace

Reproduction reproduction_of(const std::vector<Json>& records, const std::string& dataset,
                             const std::string& output) {
  Reproduction reproduction;
  std::vector<Words> typed;
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
    Words words = environment["command"].get<Words>();
    std::erase_if(words, [](const std::string& word) {
      return word == "--dry-run" || word == "--resume" || word == "--force-resume";
    });
    if (!add_once(typed, words)) continue;
    const std::string config = environment.contains("config") && environment["config"].is_string()
                                   ? environment["config"].get<std::string>()
                                   : "";
    Words run = words;
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
    if (!reproduction.runs.empty()) run.push_back("--resume");  // into the same ledger
    reproduction.runs.push_back(run);
    reproduction.configs.push_back(config);
  }
  return reproduction;
}

std::string shell_line(const Words& words) {
  std::string line = "feedrate";
  for (const std::string& word : words) line += ' ' + shell_word(word);
  return line;
}

}  // namespace feedrate::cli
