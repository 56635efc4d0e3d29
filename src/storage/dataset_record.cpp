#include "storage/dataset_record.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/whole_file.h"
#include "storage/manifest.h"

namespace feedrate::storage {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view kDatasetSchema = "feedrate.dataset/1";

// dataset.json, field by field: a missing or mistyped one is an Error that names it.
class Reader {
 public:
  Reader(const Json& json, std::string file) : json_(json), file_(std::move(file)) {
    if (!json_.is_object())
      throw Error(file_, "not a JSON object where one belongs", kRestoreDataset);
  }

  template <typename Value>
  Value get(const char* key) const {
    const Json& field = at(key);
    bool right = false;
    if constexpr (std::is_same_v<Value, bool>) {
      right = field.is_boolean();
    } else if constexpr (std::is_same_v<Value, std::string>) {
      right = field.is_string();
    } else {
      right = field.is_number_unsigned();
      if constexpr (!std::is_same_v<Value, std::uint64_t>) {
        right = right && field.get<std::uint64_t>() <=
                             static_cast<std::uint64_t>(std::numeric_limits<Value>::max());
      }
    }
    if (!right) throw Error(file_, std::string("wrong value of \"") + key + "\"", kRestoreDataset);
    return field.get<Value>();
  }

  const Json& object(const char* key) const {
    const Json& field = at(key);
    if (!field.is_object()) {
      throw Error(file_, std::string("\"") + key + "\" is not an object", kRestoreDataset);
    }
    return field;
  }

  bool has(const char* key) const { return json_.contains(key); }

 private:
  const Json& at(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end())
      throw Error(file_, std::string("has no \"") + key + "\"", kRestoreDataset);
    return *found;
  }

  const Json& json_;
  std::string file_;
};

VariantRecord parse_variant(const std::string& name, const Json& json, const std::string& file) {
  if (!stays_inside(name))
    throw Error(file, "\"" + name + "\" is no name of a variant", kRestoreDataset);
  const Reader reader(json, file);
  VariantRecord variant;
  variant.files = reader.get<std::uint64_t>("files");
  variant.bytes = reader.get<std::uint64_t>("bytes");
  variant.files_xxh3 = reader.get<std::string>("files_xxh3");
  if (reader.has("made_from")) variant.made_from = reader.get<std::string>("made_from");
  variant.complete = reader.get<bool>("complete");
  return variant;
}

// Which pictures tensors are made of. Those that are missing are to be of the same as others of
// their size, so that both hold the same pixels.
std::string pictures_of(const DatasetRecord& record, const std::string& variant) {
  const auto found = record.variants.find(variant);
  if (found != record.variants.end()) return found->second.made_from;
  if (!variant.starts_with("tensor-")) return {};
  const std::string size = variant.substr(std::min(variant.find('/'), variant.size()));
  for (const auto& [name, other] : record.variants) {
    if (name.starts_with("tensor-") && name.ends_with(size)) return other.made_from;
  }
  return {};
}

}  // namespace

std::map<std::string, std::string> made_of(const DatasetRecord& record,
                                           const std::string& variant) {
  std::map<std::string, std::string> made = record.options;
  made.insert({{"source", record.source},
               {"seed", std::to_string(record.seed)},
               {"count", std::to_string(record.count)},
               {"classes", std::to_string(record.classes)},
               {"made_from", pictures_of(record, variant)}});
  return made;
}

DatasetRecord read_dataset_record(const std::filesystem::path& data) {
  const std::string file = (data / "dataset.json").string();
  Json json;
  try {
    json = Json::parse(read_dataset_text(file));
  } catch (const Json::parse_error& error) {
    throw Error(file, "not valid JSON at byte " + std::to_string(error.byte), kRestoreDataset);
  } catch (const Json::exception&) {
    throw Error(file, "not valid JSON: a number out of range", kRestoreDataset);
  }
  const Reader reader(json, file);
  const auto schema = reader.get<std::string>("schema");
  if (schema != kDatasetSchema) {
    throw Error(file,
                "has schema \"" + schema + "\", this program reads " + std::string(kDatasetSchema),
                "make the dataset again in another folder");
  }
  DatasetRecord record;
  record.seed = reader.get<std::uint64_t>("seed");
  record.source = reader.get<std::string>("source");
  record.count = reader.get<std::int64_t>("count");
  record.classes = reader.get<std::int32_t>("classes");
  const Json& options = reader.object("options");
  const Reader option_reader(options, file);
  for (const auto& [key, value] : options.items()) {
    record.options[key] = option_reader.get<std::string>(key.c_str());
  }
  for (const auto& [name, variant] : reader.object("variants").items()) {
    record.variants[name] = parse_variant(name, variant, file);
  }
  return record;
}

void write_dataset_record(const std::filesystem::path& data, const DatasetRecord& record) {
  Json json = {{"schema", kDatasetSchema},  {"seed", record.seed},
               {"source", record.source},   {"count", record.count},
               {"classes", record.classes}, {"options", Json::object()},
               {"variants", Json::object()}};
  for (const auto& [key, value] : record.options) json["options"][key] = value;
  for (const auto& [name, variant] : record.variants) {
    Json& entry = json["variants"][name] = {
        {"name", name}, {"files", variant.files}, {"bytes", variant.bytes}};
    const auto files = static_cast<double>(std::max<std::uint64_t>(variant.files, 1));
    entry["mean_bytes"] = static_cast<double>(variant.bytes) / files;
    entry["files_xxh3"] = variant.files_xxh3;
    if (!variant.made_from.empty()) entry["made_from"] = variant.made_from;
    entry["complete"] = variant.complete;
  }
  const std::string text =
      json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";  // a path may be any bytes
  write_whole_file(data / "dataset.json", text, true);
}

}  // namespace feedrate::storage
