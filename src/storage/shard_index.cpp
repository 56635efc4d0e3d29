// The index is text, a line each, with tabs between the fields:
//   feedrate.shards/1
//   shards COUNT
//   NAME BYTES CHANGED_NS             a shard
//   - COUNT KIND                      left out of them all, see LeftOutCount
//   SHARD OFFSET BYTES LABEL PATH     a sample
//   end HASH                          of all lines before
#include "storage/shard_index.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <ostream>
#include <system_error>
#include <utility>
#include <vector>

#include "storage/kept_file.h"

namespace feedrate::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kShardsSchema = "feedrate.shards/1";
constexpr std::string_view kDamaged = "is damaged", kOthers = "is of other shards";

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

}  // namespace

fs::path shard_index_path(const fs::path& folder, std::span<const std::string_view> suffixes) {
  std::vector<std::string_view> of(suffixes.begin(), suffixes.end());
  of.emplace_back("left out: all kinds");  // earlier versions counted none, or not the hidden ones
  return kept_file_of("shards", folder, of);
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
  ShardMembers& members = kept.members;
  while (next() && !line.starts_with(kEndOfLines)) {
    const std::string_view text = hash.add(line);
    count.alive();
    if (text.starts_with(kLeftOutLine)) {
      if (!add_left_out(text.substr(kLeftOutLine.size()), members.left_out))
        return unusable(kDamaged);
      continue;
    }
    std::optional<SampleFile> sample = parse_sample(text, shards);
    if (!sample) return unusable(kDamaged);
    members.samples.push_back(std::move(*sample));
  }
  if (line != hash.end_line()) return unusable(kDamaged);
  kept.holds = true;
  return kept;
}

void keep_shard_index(const fs::path& index, const std::vector<ShardFile>& shards,
                      const ShardMembers& members) {
  replace_kept_file(index, [&](std::ostream& out) {
    LinesHash hash;
    out << hash.add(kShardsSchema) << '\n' << hash.add(count_line(shards)) << '\n';
    for (const ShardFile& shard : shards) out << hash.add(line_of(shard)) << '\n';
    for (const auto& [kind, entries] : members.left_out.of_kind())
      out << hash.add(left_out_line(kind, entries)) << '\n';
    for (const SampleFile& sample : members.samples) out << hash.add(line_of(sample)) << '\n';
    out << hash.end_line() << '\n';
  });
}

}  // namespace feedrate::storage
