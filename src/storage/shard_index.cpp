// The index is text, a line each, with tabs between the fields:
//   feedrate.shards/1
//   shards COUNT
//   NAME BYTES CHANGED_NS             a shard
//   SHARD OFFSET BYTES LABEL PATH     a sample
//   end HASH                          of all lines before
#include "storage/shard_index.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "base/random.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "base/xxh3.h"

namespace feedrate::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kShardsSchema = "feedrate.shards/1", kShardsEnd = "end\t";
constexpr std::string_view kDamaged = "is damaged", kOthers = "is of other shards";

// Sums lines up, so that damage shows.
class LinesHash {
 public:
  const std::string& add(const std::string& line) {
    hash_ = mix64(hash_, xxh3_of(line));
    return line;
  }
  std::string end_line() const { return std::string(kShardsEnd) + to_hex(hash_); }

 private:
  std::uint64_t hash_ = 0;
};

std::string count_line(const std::vector<ShardFile>& shards) {
  return "shards\t" + std::to_string(shards.size());
}
std::string line_of(const ShardFile& shard) {
  return shard.name + "\t" + std::to_string(shard.bytes) + "\t" + std::to_string(shard.changed_ns);
}
std::string line_of(const SampleFile& sample) {
  return std::to_string(sample.shard) + "\t" + std::to_string(sample.offset) + "\t" +
         std::to_string(sample.bytes) + "\t" + std::to_string(sample.label) + "\t" + sample.path;
}

template <typename Int>
bool parse_field(std::string_view text, Int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Nothing for a line that is none of a sample within its shard.
std::optional<SampleFile> parse_sample(std::string_view line,
                                       const std::vector<ShardFile>& shards) {
  std::array<std::string_view, 5> fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t end = i + 1 < fields.size() ? line.find('\t') : line.size();
    if (end == std::string_view::npos) return std::nullopt;
    fields[i] = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  SampleFile sample{.path = std::string(fields[4])};
  const bool are_numbers =
      parse_field(fields[0], sample.shard) && parse_field(fields[1], sample.offset) &&
      parse_field(fields[2], sample.bytes) && parse_field(fields[3], sample.label);
  if (!are_numbers || sample.shard >= shards.size() || sample.label < kNoLabel) return std::nullopt;
  const std::uint64_t length = shards[sample.shard].bytes;
  if (sample.offset > length || sample.bytes > length - sample.offset) return std::nullopt;
  return sample;
}

bool write_index(const fs::path& path, const std::vector<ShardFile>& shards,
                 const std::vector<SampleFile>& samples) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  LinesHash hash;
  out << hash.add(std::string(kShardsSchema)) << '\n' << hash.add(count_line(shards)) << '\n';
  for (const ShardFile& shard : shards) out << hash.add(line_of(shard)) << '\n';
  for (const SampleFile& sample : samples) out << hash.add(line_of(sample)) << '\n';
  out << hash.end_line() << '\n';
  out.close();
  return out.good();
}

}  // namespace

fs::path shard_index_path(const fs::path& folder, std::span<const std::string_view> suffixes) {
  const fs::path cache = cache_folder();
  if (cache.empty()) return {};
  std::error_code error;
  std::string of = fs::canonical(folder, error).string();
  if (error) return {};
  for (const std::string_view suffix : suffixes) of.append("\n").append(suffix);
  of.append("\nno hidden ones");  // earlier versions took them
  return cache / "shards" / (to_hex(xxh3_of(of)) + ".tsv");
}

KeptIndex read_shard_index(const fs::path& index, const std::vector<ShardFile>& shards,
                           ListCount& count) {
  std::ifstream in(index, std::ios::binary);
  if (index.empty() || !in) return {};
  LinesHash hash;
  std::string line;
  const auto next = [&] { return static_cast<bool>(std::getline(in, line)); };
  const auto unusable = [](std::string_view wrong) {
    return KeptIndex{.wrong = std::string(wrong)};
  };

  if (!next() || hash.add(line) != kShardsSchema) return unusable(kDamaged);
  if (!next() || hash.add(line) != count_line(shards)) return unusable(kOthers);
  for (const ShardFile& shard : shards) {
    if (!next() || !line.starts_with(shard.name + "\t")) return unusable(kOthers);
    if (hash.add(line) != line_of(shard)) return unusable("is older than " + shard.name);
  }
  KeptIndex kept;
  while (next() && !line.starts_with(kShardsEnd)) {
    std::optional<SampleFile> sample = parse_sample(hash.add(line), shards);
    if (!sample) return unusable(kDamaged);
    kept.samples.push_back(std::move(*sample));
    count.alive();
  }
  if (line != hash.end_line()) return unusable(kDamaged);
  kept.holds = true;
  return kept;
}

void keep_shard_index(const fs::path& index, const std::vector<ShardFile>& shards,
                      const std::vector<SampleFile>& samples) {
  if (index.empty()) return;
  std::error_code error;
  fs::create_directories(index.parent_path(), error);
  // Several processes may do so at once.
  const fs::path partial = own_name_beside(index);
  if (!error && write_index(partial, shards, samples)) fs::rename(partial, index, error);
  std::error_code ignored;
  fs::remove(partial, ignored);  // where it was not renamed
}

}  // namespace feedrate::storage
