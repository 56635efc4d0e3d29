#include "storage/manifest.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <system_error>

#include "measure/error.h"
#include "storage/container.h"
#include "storage/whole_file.h"

namespace feedrate {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view kSchema = "feedrate.dataset/1";
constexpr std::string_view kRemedy =
    "restore it, or remove it and run `feedrate gen` again with the same options: the samples that "
    "exist are kept";

std::string read_text(const std::filesystem::path& path) {
  std::vector<std::byte> bytes;
  try {
    read_whole_file(path, bytes);
  } catch (const std::system_error& error) {
    throw Error(path.string(), "cannot read it: " + error.code().message(), kRemedy);
  }
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// dataset.json, field by field: a missing or mistyped one is an Error that names it.
class Reader {
 public:
  Reader(const Json& json, std::string file) : json_(json), file_(std::move(file)) {
    if (!json_.is_object()) throw Error(file_, "not a JSON object where one belongs", kRemedy);
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
    if (!right) throw Error(file_, std::string("wrong value of \"") + key + "\"", kRemedy);
    return field.get<Value>();
  }

  const Json& object(const char* key) const {
    const Json& field = at(key);
    if (!field.is_object()) {
      throw Error(file_, std::string("\"") + key + "\" is not an object", kRemedy);
    }
    return field;
  }

  bool has(const char* key) const { return json_.contains(key); }

 private:
  const Json& at(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) throw Error(file_, std::string("has no \"") + key + "\"", kRemedy);
    return *found;
  }

  const Json& json_;
  std::string file_;
};

VariantRecord parse_variant(const std::string& name, const Json& json, const std::string& file) {
  if (!stays_inside(name)) throw Error(file, "\"" + name + "\" is no name of a variant", kRemedy);
  const Reader reader(json, file);
  VariantRecord variant;
  variant.files = reader.get<std::uint64_t>("files");
  variant.bytes = reader.get<std::uint64_t>("bytes");
  variant.files_xxh3 = reader.get<std::string>("files_xxh3");
  if (reader.has("made_from")) variant.made_from = reader.get<std::string>("made_from");
  variant.complete = reader.get<bool>("complete");
  return variant;
}

template <typename Int>
bool parse_number(std::string_view text, Int& value, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

// "path <tab> label <tab> bytes <tab> xxh3"; returns what is wrong with the line, or nothing.
std::string_view parse_line(std::string_view line, std::int32_t classes, SampleFile& sample) {
  std::string_view fields[4];
  for (int i = 0; i < 4; ++i) {
    const std::size_t end = i < 3 ? line.find('\t') : line.size();
    if (end == std::string_view::npos) return "has fewer than four fields";
    fields[i] = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  if (!stays_inside(fields[0])) return "has a path that is empty or leaves the folder";
  sample.path = fields[0];
  if (!parse_number(fields[1], sample.label) || sample.label < 0 || sample.label >= classes) {
    return "has a label that is no class of the dataset";
  }
  if (!parse_number(fields[2], sample.bytes)) return "has a wrong number of bytes";
  if (fields[3].size() != 16 || !parse_number(fields[3], sample.xxh3, 16)) {
    return "has a wrong checksum field";
  }
  return {};
}

}  // namespace

DatasetRecord read_dataset_record(const std::filesystem::path& data) {
  const std::string file = (data / "dataset.json").string();
  Json json;
  try {
    json = Json::parse(read_text(file));
  } catch (const Json::parse_error& error) {
    throw Error(file, "not valid JSON at byte " + std::to_string(error.byte), kRemedy);
  } catch (const Json::exception&) {
    throw Error(file, "not valid JSON: a number out of range", kRemedy);
  }
  const Reader reader(json, file);
  const auto schema = reader.get<std::string>("schema");
  if (schema != kSchema) {
    throw Error(file, "has schema \"" + schema + "\", this program reads " + std::string(kSchema),
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
  Json json = {{"schema", kSchema},         {"seed", record.seed},
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
  write_whole_file(data / "dataset.json", bytes_of(text), true);
}

std::vector<SampleFile> read_manifest(const std::filesystem::path& data, const std::string& name,
                                      const VariantRecord& variant, std::int32_t classes) {
  const std::string file = (data / name / "files.tsv").string();
  const std::string text = read_text(file);
  std::vector<SampleFile> samples;
  samples.reserve(std::ranges::count(text, '\n'));
  std::uint64_t bytes = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    std::string_view wrong = "is cut off";
    if (end != std::string_view::npos) {
      wrong = parse_line(rest.substr(0, end), classes, samples.emplace_back());
    }
    if (!wrong.empty()) {
      const auto line = std::ranges::count(text.substr(0, text.size() - rest.size()), '\n') + 1;
      throw Error(file, "line " + std::to_string(line) + " " + std::string(wrong), kRemedy);
    }
    bytes += samples.back().bytes;
    rest.remove_prefix(end + 1);
  }
  if (samples.size() != variant.files || bytes != variant.bytes ||
      to_hex(xxh3_of(bytes_of(text))) != variant.files_xxh3) {
    throw Error(file,
                "not the manifest that dataset.json describes (edited, or of another dataset)",
                kRemedy);
  }
  return samples;
}

DatasetVariant read_variant(const std::filesystem::path& data, const std::string& name, const DatasetRecord& record) {
  const VariantRecord& recorded = record.variants.at(name);
  DatasetVariant variant;
  variant.folder = data / name;
  variant.samples = read_manifest(data, name, recorded, record.classes);
  variant.total_bytes = recorded.bytes;
  variant.manifest_xxh3 = recorded.files_xxh3;
  variant.classes = record.classes;
  variant.container = &container_of(name);
  place_samples(variant);
  return variant;
}

VariantRecord write_manifest(const std::filesystem::path& folder,
                             const std::vector<SampleFile>& samples) {
  VariantRecord variant;
  std::string text;
  for (const SampleFile& sample : samples) {
    text.append(sample.path).append("\t").append(std::to_string(sample.label)).append("\t");
    text.append(std::to_string(sample.bytes)).append("\t").append(to_hex(sample.xxh3)).append("\n");
    variant.bytes += sample.bytes;
  }
  write_whole_file(folder / "files.tsv", bytes_of(text), true);
  variant.files = samples.size();
  variant.files_xxh3 = to_hex(xxh3_of(bytes_of(text)));
  variant.complete = true;
  return variant;
}

bool stays_inside(std::string_view path) {
  if (path.empty() || path.size() > 4096) return false;
  if (std::ranges::any_of(path,
                          [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '\\'; })) {
    return false;
  }
  for (bool more = true; more;) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    more = slash != std::string_view::npos;
    if (more) path.remove_prefix(slash + 1);
  }
  return true;
}

std::uint64_t xxh3_of(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::string to_hex(std::uint64_t hash) {
  std::string digits(16, '0');
  for (int i = 15; i >= 0; --i, hash >>= 4) digits[i] = "0123456789abcdef"[hash & 15];
  return digits;
}

}  // namespace feedrate
