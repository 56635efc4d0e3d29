#include "storage/manifest.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/file_remedy.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "base/xxh3.h"
#include "storage/container.h"

namespace feedrate::storage {
namespace {

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

std::string read_dataset_text(const std::filesystem::path& path) {
  try {
    return read_whole_text(path);
  } catch (const std::system_error& error) {
    refuse_reading(path.string(), "cannot read it: " + error.code().message(), error.code().value(),
                   kRestoreDataset);
  }
}

std::vector<SampleFile> read_manifest(const std::filesystem::path& data, const std::string& name,
                                      const VariantRecord& variant, std::int32_t classes) {
  const std::string file = (data / name / "files.tsv").string();
  const std::string text = read_dataset_text(file);
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
      throw Error(file, "line " + std::to_string(line) + " " + std::string(wrong), kRestoreDataset);
    }
    bytes += samples.back().bytes;
    rest.remove_prefix(end + 1);
  }
  if (samples.size() != variant.files || bytes != variant.bytes ||
      to_hex(xxh3_of(text)) != variant.files_xxh3) {
    throw Error(file,
                "not the manifest that dataset.json describes (edited, or of another dataset)",
                kRestoreDataset);
  }
  return samples;
}

DatasetVariant read_variant(const std::filesystem::path& data, const std::string& name,
                            const DatasetRecord& record) {
  const VariantRecord& recorded = record.variants.at(name);
  DatasetVariant variant;
  variant.folder = data / name;
  variant.samples = read_manifest(data, name, recorded, record.classes);
  sum_up(variant);
  variant.manifest_xxh3 = recorded.files_xxh3;
  variant.classes = record.classes;
  variant.container = &container_of(name);
  variant.made = made_of(record, name);
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
  write_whole_file(folder / "files.tsv", text, true);
  variant.files = samples.size();
  variant.files_xxh3 = to_hex(xxh3_of(text));
  variant.complete = true;
  return variant;
}

bool stays_inside(std::string_view path) {
  if (path.empty() || path.size() > 4096) return false;
  if (has_control_characters(path) || path.find('\\') != std::string_view::npos) return false;
  for (bool more = true; more;) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    more = slash != std::string_view::npos;
    if (more) path.remove_prefix(slash + 1);
  }
  return true;
}

}  // namespace feedrate::storage
