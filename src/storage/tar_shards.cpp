#include "storage/tar_shards.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/in_parallel.h"
#include "base/text.h"
#include "base/xxh3.h"
#include "measure/clock.h"
#include "storage/container.h"
#include "storage/left_out.h"
#include "storage/packed_files.h"
#include "storage/shard_index.h"
#include "storage/tar_walk.h"

namespace feedrate::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTar = ".tar";
constexpr std::string_view kCompressed[] = {".tar.gz",  ".tgz",     ".tar.zst", ".tar.xz",
                                            ".tar.bz2", ".tar.lz4", ".tar.Z"};
constexpr std::int32_t kMostClasses = 1'000'000;

// Shards as they lie: what a dataset of gen's says of them, the layout, is not known here.
const Container& own_shards() {
  static constexpr Container kOwn{
      .name = kShardsContainer,
      .help = "",
      .open = [](const DatasetVariant& variant, const Io& io) {
        return open_packed(variant, io,
                           "leave the shards alone while they are read, and start again");
      }};
  return kOwn;
}

bool is_shard(const fs::directory_entry& entry) {
  std::error_code ignored;
  return has_shard_name(entry.path().filename().native()) && !entry.is_directory(ignored);
}

bool is_compressed_name(std::string_view name) {
  return std::ranges::any_of(kCompressed, [&](std::string_view c) { return name.ends_with(c); });
}

// To open a pipe would hang.
ShardFile look_at(const fs::path& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0)
    throw Error(path.string(), std::strerror(errno), "mend it or take it out of the folder");
  if (!S_ISREG(info.st_mode)) throw Error(path.string(), "is no file", "take it out of the folder");
  if (info.st_size == 0) {  // a copy that broke off: not even the end of an archive
    throw Error(path.string(), "is empty", "copy or make it again, or take it out of the folder");
  }
  return {.name = path.filename().string(),
          .bytes = static_cast<std::uint64_t>(info.st_size),
          .changed_ns = changed_ns(info)};
}

// In name order. Pictures beside them are left out, and what is hidden.
std::vector<ShardFile> shards_in(const fs::path& folder, std::span<const std::string_view> suffixes,
                                 ListCount& count, LeftOutCount& left_out) {
  std::vector<ShardFile> shards;
  std::error_code error, ignored;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    count.alive();
    if (is_hidden(name)) {
      left_out.add(kHidden);
      continue;
    }
    if (is_compressed_name(name)) {
      throw Error(entry->path().string(), "is compressed",
                  "unpack it (gunzip, zstd -d), or take it out of the folder: samples are read "
                  "where they lie");
    }
    if (has_suffix(name, suffixes) && !entry->is_directory(ignored)) left_out.add(kBesideShards);
    if (!is_shard(*entry)) continue;
    if (has_control_characters(name))
      throw Error(folder.string(), "holds a shard whose name has control characters", "rename it");
    shards.push_back(look_at(entry->path()));
  }
  if (error) throw Error(folder.string(), error.message(), "give a folder that can be read");
  if (shards.empty()) {
    throw Error(folder.string(), "holds no *.tar",
                "give the folder that holds the shards, or use --container files");
  }
  std::ranges::sort(shards, {}, &ShardFile::name);
  return shards;
}

// "a/b.seg.png": the key "a/b" and the kind ".seg.png", as webdataset has them; no kind where the
// name has none.
std::pair<std::string_view, std::string_view> key_and_kind(std::string_view path) {
  const std::size_t name = path.rfind('/') + 1;  // 0 where there is no folder
  const std::size_t dot = path.find('.', name);
  if (dot == name || dot == std::string_view::npos) return {path, {}};
  return {path.substr(0, dot), path.substr(dot)};
}

// Whether it, or a folder on its way, is hidden.
bool is_hidden_path(std::string_view path) {
  for (bool more = true; more;) {
    const std::size_t slash = path.find('/');
    if (is_hidden(path.substr(0, slash))) return true;
    more = slash != std::string_view::npos;
    if (more) path.remove_prefix(slash + 1);
  }
  return false;
}

// The members of one shard that are samples, with their labels. There may be none.
class ShardSamples {
 public:
  ShardSamples(std::string path, std::uint32_t shard, std::span<const std::string_view> suffixes)
      : path_(std::move(path)), shard_(shard), suffixes_(suffixes) {}

  ShardMembers list(ListCount& count) {
    TarWalk walk(path_);
    for (TarMember member; walk.next(member); count.one()) take(walk, member);
    // A label may stand before its sample or behind it.
    for (SampleFile& sample : found_.samples) {
      const auto label = labels_.find(std::string(key_and_kind(sample.path).first));
      if (label != labels_.end()) sample.label = label->second;
    }
    return std::move(found_);
  }

 private:
  void take(TarWalk& walk, TarMember& member) {
    if (is_hidden_path(member.name)) return found_.left_out.add(kHidden);
    const auto [key, kind] = key_and_kind(member.name);
    const auto is_kind = [&](std::string_view suffix) { return is_in_any_case(kind, suffix); };
    if (is_kind(".cls")) labels_[std::string(key)] = label_in(walk, member);
    if (std::ranges::none_of(suffixes_, is_kind)) return leave_out(member.name);
    found_.samples.push_back({.path = std::move(member.name),
                              .label = kNoLabel,
                              .bytes = member.bytes,
                              .offset = member.offset,
                              .shard = shard_});
  }

  // Captions and all else belong to their samples.
  void leave_out(std::string_view name) {
    LeftOutCount& left_out = found_.left_out;
    if (name.ends_with(kTar) || is_compressed_name(name)) return left_out.add(kTarFiles);
    if (has_suffix(name, suffixes_)) return left_out.add(kDottedNames);
    const std::string_view picture = picture_ending(name);
    if (!picture.empty()) left_out.add(std::string(picture));
  }

  std::int32_t label_in(TarWalk& walk, const TarMember& member) const {
    constexpr std::uint64_t kLongest = 64;
    std::string_view text = member.bytes <= kLongest ? walk.text_of(member) : std::string_view{};
    constexpr std::string_view kSpaces = " \t\r\n";
    text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
    text = text.substr(0, text.find_last_not_of(kSpaces) + 1);
    const auto label = number_from<std::int32_t>(text);
    if (label && *label >= 0 && *label < kMostClasses) return *label;
    throw Error(path_ + ": " + line_of_utf8(member.name, 200), "holds no class number",
                "put the class there in digits, from 0 on, or leave the member out");
  }

  const std::string path_;
  const std::uint32_t shard_;
  const std::span<const std::string_view> suffixes_;
  ShardMembers found_;
  std::unordered_map<std::string, std::int32_t> labels_;  // by key
};

[[noreturn]] void refuse_no_samples(const fs::path& folder, const std::vector<ShardFile>& shards,
                                    std::span<const std::string_view> suffixes,
                                    const LeftOutCount& left_out) {
  const bool is_one = shards.size() == 1;
  const std::string all = is_one ? "it" : "them", most = left_out.most_frequent();
  std::string reason = "holds no " + either_of(suffixes), remedy = "use another --data";
  if (!is_one) reason += " in any of its " + std::to_string(shards.size()) + " shards";
  if (!left_out.empty()) reason += "; else it holds " + left_out.text();
  if (is_one) remedy += ", or take it out of the folder";
  if (most == kTarFiles)
    remedy = "unpack " + all + ", and each tar file in " + all + " into a class folder of its own";
  if (most == kDottedNames)
    remedy = "rename them: a member's kind begins at the first dot of its name";
  throw Error((is_one ? folder / shards.front().name : folder).string(), reason, remedy);
}

ShardMembers walk_shards(const fs::path& folder, const std::vector<ShardFile>& shards,
                         std::span<const std::string_view> suffixes, int threads,
                         ListCount& count) {
  std::vector<ShardMembers> of_shard(shards.size());
  in_parallel(
      shards.size(), threads,
      [&] {
        return [&](std::size_t i) {
          of_shard[i] = ShardSamples((folder / shards[i].name).string(),
                                     static_cast<std::uint32_t>(i), suffixes)
                            .list(count);
        };
      },
      [] { return false; });
  ShardMembers all;
  std::size_t members = 0;
  for (const ShardMembers& one : of_shard) members += one.samples.size();
  all.samples.reserve(members);  // there may be millions
  for (ShardMembers& one : of_shard) {
    std::ranges::move(one.samples, std::back_inserter(all.samples));
    all.left_out.add(one.left_out);
    one = {};
  }
  if (all.samples.empty()) refuse_no_samples(folder, shards, suffixes, all.left_out);
  return all;
}

// The members, from the kept index if it is of these shards.
ShardMembers find_members(const fs::path& folder, const std::vector<ShardFile>& shards,
                          std::span<const std::string_view> suffixes, int threads, ListCount& count,
                          const ListNote& note, bool relist) {
  const fs::path index = shard_index_path(folder, suffixes);
  KeptIndex kept = relist ? KeptIndex() : read_shard_index(index, shards, count);
  if (kept.holds) return std::move(kept.members);
  if (!kept.wrong.empty() && note)
    note(escaped(folder.string()) + ": its shards are listed anew: the index " +
         escaped(index.string()) + " " + kept.wrong);
  ShardMembers members = walk_shards(folder, shards, suffixes, threads, count);
  keep_shard_index(index, shards, members);
  return members;
}

// Takes out the shards that hold no sample; returns their names.
std::vector<std::string> drop_empty_shards(std::vector<ShardFile>& shards,
                                           std::vector<SampleFile>& samples) {
  std::vector<bool> holds(shards.size());
  for (const SampleFile& sample : samples) holds[sample.shard] = true;
  std::vector<std::uint32_t> numbers(shards.size());
  std::vector<ShardFile> left;
  std::vector<std::string> barren;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    numbers[i] = static_cast<std::uint32_t>(left.size());
    if (holds[i]) {
      left.push_back(std::move(shards[i]));
    } else {
      barren.push_back(std::move(shards[i].name));
    }
  }
  for (SampleFile& sample : samples) sample.shard = numbers[sample.shard];
  shards = std::move(left);
  return barren;
}

// What is not as the layout of webdataset has it: "2 samples have another one's name". `samples`:
// before they are labelled by their folders.
std::string oddities_of(const std::vector<SampleFile>& samples) {
  std::vector<std::uint64_t> names;
  names.reserve(samples.size());
  for (const SampleFile& sample : samples) names.push_back(xxh3_of(sample.path));
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names).size();
  const auto unlabelled =
      static_cast<std::size_t>(std::ranges::count(samples, kNoLabel, &SampleFile::label));
  std::string text;
  if (repeated > 0) {
    text = std::to_string(repeated) + (repeated == 1 ? " sample has" : " samples have") +
           " another one's name";
  }
  if (unlabelled > 0 && unlabelled < samples.size()) {
    text += (text.empty() ? "" : "; ") + std::to_string(unlabelled) +
            (unlabelled == 1 ? " sample has no .cls in its shard: its folder is its class"
                             : " samples have no .cls in their shard: their folders are their "
                               "classes");
  }
  return text;
}

// Labels of samples without one of their own; returns how many classes there are.
int label_by_folders(std::vector<SampleFile>& samples) {
  const auto folder_of = [](const SampleFile& sample) {
    return std::string_view(sample.path).substr(0, sample.path.rfind('/') + 1);
  };
  std::map<std::string_view, std::int32_t> labels;  // of folders
  for (const SampleFile& sample : samples)
    if (sample.label == kNoLabel) labels[folder_of(sample)] = 0;
  std::int32_t next = 0;
  for (auto& [folder, label] : labels) label = next++;
  std::int32_t highest = 0;
  for (SampleFile& sample : samples) {
    if (sample.label == kNoLabel) sample.label = labels[folder_of(sample)];
    highest = std::max(highest, sample.label);
  }
  return highest + 1;
}

// Of names, labels, places, sizes and times, as an image folder's manifest.
std::string manifest_of(const std::vector<ShardFile>& shards,
                        const std::vector<SampleFile>& samples) {
  std::vector<std::uint64_t> hashes;
  hashes.reserve(shards.size() + samples.size());
  for (const ShardFile& shard : shards) {
    hashes.push_back(xxh3_of(shard.name + "\t" + std::to_string(shard.bytes) + "\t" +
                             std::to_string(shard.changed_ns)));
  }
  for (const SampleFile& sample : samples) {
    hashes.push_back(xxh3_of(sample.path + "\t" + std::to_string(sample.label) + "\t" +
                             std::to_string(sample.bytes) + "\t" + std::to_string(sample.shard) +
                             "\t" + std::to_string(sample.offset)));
  }
  return to_hex(xxh3_of(std::as_bytes(std::span(hashes))));
}

}  // namespace

bool has_shard_name(std::string_view name) { return name.ends_with(kTar) && !is_hidden(name); }

std::string find_tar_shard(const fs::path& data) {
  std::error_code error;
  for (fs::directory_iterator entry(data, error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_shard(*entry)) return entry->path().filename().string();
  }
  return {};
}

DatasetVariant list_tar_shards(const fs::path& folder, std::span<const std::string_view> suffixes,
                               int threads, const ListProgress& progress, const ListNote& note,
                               bool relist) {
  const std::int64_t began_ns = measure::now_ns();
  ListCount count(progress);
  LeftOutCount left_out;
  std::vector<ShardFile> shards = shards_in(folder, suffixes, count, left_out);
  DatasetVariant variant{.folder = folder, .container = &own_shards()};
  ShardMembers members = find_members(folder, shards, suffixes, threads, count, note, relist);
  left_out.add(members.left_out);
  variant.samples = std::move(members.samples);
  variant.listed.seconds = measure::seconds(measure::now_ns() - began_ns);
  const std::vector<std::string> barren = drop_empty_shards(shards, variant.samples);
  const std::string oddities = oddities_of(variant.samples);
  variant.classes = label_by_folders(variant.samples);
  variant.manifest_xxh3 = manifest_of(shards, variant.samples);
  sum_up(variant);
  for (const ShardFile& shard : shards) {
    variant.packed.push_back(shard.name);
    variant.packed_bytes.push_back(shard.bytes);
  }
  variant.made = {{"source", "a folder of tar shards, as it lies"},
                  {"count", std::to_string(variant.samples.size())},
                  {"classes", std::to_string(variant.classes)}};
  if (!oddities.empty()) variant.made[kLayout] = oddities;
  left_out.add(kEmptyShards, barren.size());
  if (!left_out.empty()) variant.made[kLeftOut] = left_out.text();
  if (note && !barren.empty()) {
    note(escaped((folder / barren.front()).string()) + ": holds no " + either_of(suffixes) +
         (barren.size() > 1 ? ", like " + std::to_string(barren.size() - 1) + " more" : ""));
  }
  return variant;
}

}  // namespace feedrate::storage
