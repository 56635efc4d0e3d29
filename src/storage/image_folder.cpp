#include "storage/image_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file_remedy.h"
#include "base/in_parallel.h"
#include "base/text.h"
#include "base/xxh3.h"
#include "storage/container.h"

namespace feedrate::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNoChange = "the folder must not change while it is listed";

const LeftOut kNobodyAsks{};

enum class Kind { folder, file, dangling, other };
struct Entry {
  std::string name;
  Kind kind = Kind::other;
};

// What tells a folder from all others.
using FolderId = std::pair<dev_t, ino_t>;

FolderId id_of(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) refuse_reading(path, std::strerror(errno), errno, kNoChange);
  return {info.st_dev, info.st_ino};
}

Kind kind_of(mode_t mode) {
  return S_ISDIR(mode) ? Kind::folder : S_ISREG(mode) ? Kind::file : Kind::other;
}

void check_name(const std::string& path, std::string_view name) {
  if (has_control_characters(name)) {
    throw Error(path, "holds a file whose name has control characters",
                "rename it: `ls -b " + path + "` shows it");
  }
}

bool has_suffix(std::string_view name, std::span<const std::string_view> suffixes) {
  return std::ranges::any_of(suffixes, [&](std::string_view suffix) {
    return name.size() > suffix.size() &&
           is_in_any_case(name.substr(name.size() - suffix.size()), suffix);
  });
}

// A link is what it leads to. What cannot be looked at for another reason than that a link leads
// nowhere may be a folder of pictures, and is refused. `name` is relative to the folder, whose path
// is for errors.
Kind kind_behind(int folder, const std::string& path, const char* name) {
  struct stat info;
  if (fstatat(folder, name, &info, 0) == 0) return kind_of(info.st_mode);
  const int error = errno;
  if (leads_nowhere(error)) return Kind::dangling;
  check_name(path, name);
  refuse_reading(path + "/" + name, std::strerror(error), error,
                 "mend it or take it out of the folder");
}

// In name order. What is neither a folder nor ends in one of `wanted` is not checked: whatever else
// lies there does no harm.
std::vector<Entry> entries_of(const std::string& path, std::span<const std::string_view> wanted,
                              ListCount& count) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), closedir);
  if (!folder) refuse_reading(path, std::strerror(errno), errno, kNoChange);
  std::vector<Entry> entries;
  errno = 0;
  while (const dirent* entry = readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    const bool is_wanted = has_suffix(name, wanted);
    Kind kind = Kind::other;
    if (entry->d_type == DT_DIR) kind = Kind::folder;
    if (entry->d_type == DT_REG) kind = Kind::file;
    if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN)
      kind = kind_behind(dirfd(folder.get()), path, entry->d_name);
    if (kind == Kind::folder || is_wanted) check_name(path, name);
    if (kind == Kind::other && is_wanted) {
      throw Error(path + "/" + std::string(name), "is no file: a pipe, a socket or a device",
                  "take it out of the folder");
    }
    entries.push_back({std::string(name), kind});
    count.alive();
    errno = 0;
  }
  if (errno != 0) refuse_reading(path, std::strerror(errno), errno, kNoChange);
  std::ranges::sort(entries, {}, &Entry::name);
  return entries;
}

// The pictures of one class, or of all of the folder.
class ClassFolder {
 public:
  // `count` and `left_out` outlive it.
  ClassFolder(const std::string& root, std::span<const std::string_view> suffixes, ListCount& count,
              const LeftOut& left_out)
      : root_(root), suffixes_(suffixes), count_(count), left_out_(left_out) {}

  // Their paths relative to the root; `name`: of the class, empty for the root itself.
  std::vector<std::string> list(const std::string& name) {
    paths_.clear(), way_.clear();
    walk(name);
    return std::move(paths_);
  }
  // Links of a picture's name that lead nowhere, and were not to be left out: of all lists so far.
  std::vector<std::string> take_dangling() { return std::exchange(dangling_, {}); }

 private:
  void walk(const std::string& relative) {
    const std::string path = relative.empty() ? root_ : root_ + "/" + relative;
    const FolderId id = id_of(path);
    if (std::ranges::find(way_, id) != way_.end())
      throw Error(path, "is a link to a folder that it lies in", "take it out of the folder");
    way_.push_back(id);
    for (const Entry& entry : entries_of(path, suffixes_, count_)) {
      std::string below = relative.empty() ? entry.name : relative + "/" + entry.name;
      const bool is_dangling = entry.kind == Kind::dangling,
                 is_sample = has_suffix(entry.name, suffixes_);
      if (entry.kind == Kind::folder) {
        walk(below);
      } else if (entry.kind == Kind::file && is_sample) {
        paths_.push_back(std::move(below));
      } else if (is_dangling && is_sample && !left_out_.dangling_samples) {
        dangling_.push_back(std::move(below));
      } else if (entry.kind != Kind::other && left_out_.tell) {
        left_out_.tell(below, is_dangling);
      }
    }
    way_.pop_back();
  }

  const std::string root_;
  const std::span<const std::string_view> suffixes_;
  ListCount& count_;
  const LeftOut& left_out_;
  std::vector<FolderId> way_;  // from the class down to where it is
  std::vector<std::string> paths_, dangling_;
};

// They are found one by one otherwise, each by a run of its own.
void refuse_dangling(const std::string& root, const std::vector<std::string>& dangling) {
  if (dangling.empty()) return;
  const std::string more =
      dangling.size() > 1 ? ", and so are " + std::to_string(dangling.size() - 1) + " others" : "";
  throw Error(
      root + "/" + std::ranges::min(dangling), "is a link that leads nowhere" + more,
      "mend such links, or take them out: `find " + shell_word(root) + " -xtype l` shows them");
}

std::vector<std::string> classes_of(const std::string& root, ListCount& count) {
  std::vector<std::string> classes;
  for (Entry& entry : entries_of(root, {}, count))
    if (entry.kind == Kind::folder) classes.push_back(std::move(entry.name));
  return classes;
}

[[noreturn]] void refuse_empty(const std::string& root, std::span<const std::string_view> suffixes,
                               ListCount& count) {
  static constexpr std::string_view kTar[] = {".tar"};
  const std::vector<Entry> entries = entries_of(root, {}, count);
  const auto holds = [&](std::span<const std::string_view> wanted) {
    return std::ranges::any_of(entries, [&](const Entry& entry) {
      return entry.kind == Kind::file && has_suffix(entry.name, wanted);
    });
  };
  if (holds(suffixes)) {
    throw Error(root, "holds pictures, but not in class folders",
                "move them into one: " + root + "/class_0/...");
  }
  if (holds(kTar)) {
    throw Error(root, "holds tar files, not class folders",
                "read them as shards: --container webdataset --image-size mixed");
  }
  throw Error(root,
              "holds no " + either_of(suffixes) + " in class folders (" + root + "/CLASS/NAME)",
              "give the folder that holds them, or another --data");
}

// The paths of all pictures, by class.
std::vector<SampleFile> list_paths(const std::string& root, const std::vector<std::string>& classes,
                                   std::span<const std::string_view> suffixes, int threads,
                                   ListCount& count) {
  std::vector<std::vector<std::string>> of_class(classes.size()), dangling(classes.size());
  in_parallel(
      classes.size(), threads,
      [&] {
        const auto lister = std::make_shared<ClassFolder>(root, suffixes, count, kNobodyAsks);
        return [&, lister](std::size_t i) {
          of_class[i] = lister->list(classes[i]);
          dangling[i] = lister->take_dangling();
        };
      },
      [] { return false; });
  std::vector<std::string> all_dangling;
  for (std::vector<std::string>& some : dangling)
    std::ranges::move(some, std::back_inserter(all_dangling));
  refuse_dangling(root, all_dangling);
  std::vector<SampleFile> samples;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    for (std::string& path : of_class[i])
      samples.push_back({.path = std::move(path), .label = static_cast<std::int32_t>(i)});
    std::vector<std::string>().swap(of_class[i]);
  }
  return samples;
}

// Sizes; returns the hash of names, labels, sizes and times.
std::string look_at_files(const std::string& root, std::vector<SampleFile>& samples, int threads,
                          ListCount& count) {
  std::vector<std::uint64_t> hashes(samples.size());
  in_parallel(
      samples.size(), threads,
      [&] {
        return [&, path = std::string()](std::size_t i) mutable {
          SampleFile& sample = samples[i];
          path.assign(root).append("/").append(sample.path);
          struct stat info;
          if (stat(path.c_str(), &info) != 0)
            refuse_reading(path, std::strerror(errno), errno, kNoChange);
          sample.bytes = static_cast<std::uint64_t>(info.st_size);
          const std::string line = sample.path + "\t" + std::to_string(sample.label) + "\t" +
                                   std::to_string(sample.bytes) + "\t" +
                                   std::to_string(info.st_mtim.tv_sec) + "." +
                                   std::to_string(info.st_mtim.tv_nsec);
          hashes[i] = xxh3_of(line);
          count.one();
        };
      },
      [] { return false; });
  return to_hex(xxh3_of(std::as_bytes(std::span(hashes))));
}

// A dataset that has lost its dataset.json still has manifests: DATA/jpeg/500x375/files.tsv. Looks
// at a few entries of each folder, since classes may hold many.
bool holds_variants(const fs::path& data, ListCount& count) {
  constexpr int kLooks = 16;
  std::error_code error;
  for (const auto& folder : fs::directory_iterator(data, error)) {
    int looks = 0;
    for (const auto& entry : fs::directory_iterator(folder.path(), error)) {
      // The folder says what is no folder: no picture is looked at by itself.
      if (entry.is_directory(error) && fs::exists(entry.path() / "files.tsv", error)) return true;
      count.alive();
      if (++looks == kLooks) break;
    }
  }
  return false;
}

// Looks for one picture of a class, of which it may be the first of a million.
class FirstPicture {
 public:
  FirstPicture(const fs::path& root, std::span<const std::string_view> suffixes,
               const std::function<bool(const std::string&)>& passes, ListCount& count)
      : root_(root), suffixes_(suffixes), passes_(passes), count_(count) {}

  // Relative to the root; empty: none.
  std::string in_class(const std::string& name) {
    looks_ = 0;
    return walk(name);
  }

 private:
  // Ends a loop of links, too.
  static constexpr int kMostLooks = 1000;

  std::string walk(const std::string& relative) {
    if (passes_(relative)) return {};
    std::vector<std::string> below;
    std::error_code error;
    for (fs::directory_iterator entry(root_ / relative, error), end; !error && entry != end;
         entry.increment(error)) {
      if (++looks_ > kMostLooks) return {};
      count_.alive();
      std::error_code ignored;  // a link that leads nowhere is nothing
      const std::string name = entry->path().filename().string();
      if (entry->is_directory(ignored)) below.push_back(name);
      if (has_suffix(name, suffixes_) && entry->is_regular_file(ignored))
        return relative + "/" + name;
    }
    for (const std::string& name : below)
      if (std::string found = walk(relative + "/" + name); !found.empty()) return found;
    return {};
  }

  const fs::path& root_;
  const std::span<const std::string_view> suffixes_;
  const std::function<bool(const std::string&)>& passes_;
  ListCount& count_;
  int looks_ = 0;  // at entries of this class
};

}  // namespace

bool is_image_folder(const fs::path& data, const ListProgress& progress) {
  ListCount count(progress);
  std::error_code error;
  return fs::is_directory(data, error) && !fs::exists(data / "dataset.json", error) &&
         !holds_variants(data, count);
}

std::vector<std::string> list_pictures(const fs::path& folder,
                                       std::span<const std::string_view> suffixes,
                                       const ListProgress& progress, const LeftOut& left_out) {
  ListCount count(progress);
  ClassFolder lister(folder.string(), suffixes, count, left_out);
  std::vector<std::string> pictures = lister.list("");
  refuse_dangling(folder.string(), lister.take_dangling());
  return pictures;
}

bool holds_class_pictures(const fs::path& folder, std::span<const std::string_view> suffixes,
                          const ListProgress& progress) {
  ListCount count(progress);
  ClassFolder lister(folder.string(), suffixes, count, kNobodyAsks);
  return std::ranges::any_of(classes_of(folder.string(), count),
                             [&](const std::string& name) { return !lister.list(name).empty(); });
}

std::string find_class_picture(const fs::path& folder, std::span<const std::string_view> suffixes,
                               const std::function<bool(const std::string&)>& passes,
                               const ListProgress& progress) {
  ListCount count(progress);
  FirstPicture first(folder, suffixes, passes, count);
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (!entry->is_directory(ignored)) continue;
    if (std::string found = first.in_class(entry->path().filename().string()); !found.empty())
      return found;
  }
  return {};
}

DatasetVariant list_image_folder(const fs::path& folder, std::span<const std::string_view> suffixes,
                                 int threads, const ListProgress& progress) {
  const std::string root = folder.string();
  ListCount count(progress);
  const std::vector<std::string> classes = classes_of(root, count);
  DatasetVariant variant{.folder = folder, .container = &own_files()};
  variant.samples = list_paths(root, classes, suffixes, threads, count);
  if (variant.samples.empty()) refuse_empty(root, suffixes, count);
  variant.manifest_xxh3 = look_at_files(root, variant.samples, threads, count);
  sum_up(variant);
  variant.classes = static_cast<int>(classes.size());
  variant.made = {{"source", "a folder of pictures, as it lies"},
                  {"count", std::to_string(variant.samples.size())},
                  {"classes", std::to_string(classes.size())}};
  return variant;
}

}  // namespace feedrate::storage
