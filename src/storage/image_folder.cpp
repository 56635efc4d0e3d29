#include "storage/image_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
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
#include "measure/clock.h"
#include "storage/container.h"
#include "storage/folder_times.h"
#include "storage/gen_command.h"
#include "storage/kept_listing.h"
#include "storage/left_out.h"
#include "storage/no_folder.h"
#include "storage/tar_shards.h"

namespace feedrate::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kManyFiles = 10'000;  // of which the user is told how they were listed
constexpr std::string_view kNoChange = "the folder must not change while it is listed";

// What is counted apart from what its name says.
constexpr const char *kOther = "other", *kInNoClass = "in no class folder";

const LeftOut kNobodyAsks{};

enum class Kind { folder, file, dangling, hidden, other };
struct Entry {
  std::string name;
  Kind kind = Kind::other;
};

// What tells a folder from all others.
using FolderId = std::pair<dev_t, ino_t>;

// Before its entries are read: what comes into it meanwhile gives it another time.
struct stat stat_folder(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) refuse_reading(path, std::strerror(errno), errno, kNoChange);
  return info;
}

Kind kind_of(mode_t mode) {
  return S_ISDIR(mode) ? Kind::folder : S_ISREG(mode) ? Kind::file : Kind::other;
}

// A link is what it leads to. What cannot be looked at for another reason than that a link leads
// nowhere may be a folder of pictures, and is refused. `name` is relative to the folder, whose path
// is for errors.
Kind kind_behind(int folder, const std::string& path, const char* name) {
  struct stat info;
  if (fstatat(folder, name, &info, 0) == 0) return kind_of(info.st_mode);
  const int error = errno;
  if (leads_nowhere(error)) return Kind::dangling;
  refuse_reading(path + "/" + name, std::strerror(error), error,
                 "mend it or take it out of the folder");
}

// What is hidden, or neither a folder nor ends in one of `wanted`, is not checked: whatever else
// lies there does no harm.
Kind kind_of(const dirent& entry, int folder, const std::string& path,
             std::span<const std::string_view> wanted) {
  const std::string_view name = entry.d_name;
  if (is_hidden(name)) return Kind::hidden;
  Kind kind = Kind::other;
  if (entry.d_type == DT_DIR) kind = Kind::folder;
  if (entry.d_type == DT_REG) kind = Kind::file;
  if (entry.d_type == DT_LNK || entry.d_type == DT_UNKNOWN)
    kind = kind_behind(folder, path, entry.d_name);
  if (kind == Kind::other && has_suffix(name, wanted)) {
    throw Error(path + "/" + std::string(name), "is no file: a pipe, a socket or a device",
                "take it out of the folder");
  }
  return kind;
}

// In name order.
std::vector<Entry> entries_of(const std::string& path, std::span<const std::string_view> wanted,
                              ListCount& count) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), closedir);
  if (!folder) refuse_reading(path, std::strerror(errno), errno, kNoChange);
  std::vector<Entry> entries;
  errno = 0;
  while (const dirent* entry = readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    entries.push_back({std::string(name), kind_of(*entry, dirfd(folder.get()), path, wanted)});
    count.alive();
    errno = 0;
  }
  if (errno != 0) refuse_reading(path, std::strerror(errno), errno, kNoChange);
  std::ranges::sort(entries, {}, &Entry::name);
  return entries;
}

// Neither a folder nor a sample.
void count_left_out(const Entry& entry, LeftOutCount& count) {
  if (entry.kind == Kind::hidden) return count.add(kHidden);
  if (entry.kind == Kind::dangling) return count.add(kDanglingLinks);
  const bool is_file = entry.kind == Kind::file;
  if (is_file && has_shard_name(entry.name)) return count.add(kTarFiles);
  const std::string_view picture = is_file ? picture_ending(entry.name) : std::string_view{};
  count.add(picture.empty() ? kOther : std::string(picture));
}

// The string has no spare capacity, unlike one that has grown: there may be millions.
std::string path_in(const std::string& folder, std::string_view name) {
  if (folder.empty()) return std::string(name);
  std::string path(folder.size() + 1 + name.size(), '/');
  std::ranges::copy(folder, path.begin());
  std::ranges::copy(name, path.end() - static_cast<std::ptrdiff_t>(name.size()));
  return path;
}

// What a walk through folders met. It holds of a file no more than the name, and not that where a
// kept listing has it: make_samples() reads that again.
struct Walked {
  std::size_t files = 0;
  std::string names;  // of the files that were listed anew, in their order, each with a zero byte
  std::vector<WalkStep> steps;
  std::size_t listed_anew = 0;        // folders that no kept listing had
  std::vector<std::string> dangling;  // links of a picture's name, not to be left out
};

// Calls on_file(path of its folder, KeptFile) for each file of a walk, in their order.
template <typename OnFile>
void for_each_file(const Walked& walked, KeptFiles& kept, const OnFile& on_file) {
  std::vector<const WalkedFolder*> way;
  const char* name = walked.names.c_str();
  std::size_t met = 0;
  for (const WalkStep& step : walked.steps) {
    if (step.kept_at != kNotKept) kept.go_to(step.kept_at);
    for (; met < step.files; ++met) {
      KeptFile file;
      if (step.kept_at != kNotKept) {
        file = kept.next();
      } else {
        file.name = name;
        name += file.name.size() + 1;
      }
      on_file(way.back()->path, file);
    }
    if (step.into)
      way.push_back(step.into.get());
    else
      way.pop_back();
  }
}

// What is known of folders before they are listed.
struct KeptFolders {
  const KeptListing& kept;
  FolderTimes& times;
};

// The pictures of one class, or of all of the folder.
class ClassFolder {
 public:
  // What `known` refers to, `count` and `left_out` outlive it.
  ClassFolder(const std::string& root, std::span<const std::string_view> suffixes,
              const KeptFolders& known, ListCount& count, const LeftOut& left_out)
      : root_(root),
        suffixes_(suffixes),
        kept_(known.kept),
        times_(known.times),
        count_(count),
        left_out_(left_out) {}

  // `name`: of the class, empty for the root itself.
  Walked list(const std::string& name) {
    walked_ = {}, way_.clear(), kept_at_ = kNotKept;
    walk(name);
    walked_.names.shrink_to_fit();  // all walks are kept until the last one has ended
    walked_.steps.shrink_to_fit();
    return std::move(walked_);
  }
  // Those that lie in the root itself.
  Walked list_flat() {
    goes_down_ = false;
    return list("");
  }

 private:
  void walk(const std::string& relative) {
    const std::string path = relative.empty() ? root_ : root_ + "/" + relative;
    const struct stat info = stat_folder(path);
    const FolderId id{info.st_dev, info.st_ino};
    if (std::ranges::find(way_, id) != way_.end())
      throw Error(path, "is a link to a folder that it lies in", "take it out of the folder");
    way_.push_back(id);
    FolderState state{
        .changed_ns = changed_ns(info), .status_ns = ns_of(info.st_ctim), .inode = info.st_ino};
    if (!times_.tell_changes(info.st_dev, path)) state.changed_ns = kUnknownTime;
    auto into = std::make_unique<WalkedFolder>(WalkedFolder{.path = relative, .state = state});
    WalkedFolder& folder = *into;
    add_step(std::move(into));
    if (kept_.holds(relative, state))
      take_kept(folder);
    else
      list_anew(folder, path);
    add_step(nullptr);
    way_.pop_back();
  }

  // `into`: null out of the folder.
  void add_step(std::unique_ptr<WalkedFolder> into) {
    walked_.steps.push_back({.into = std::move(into),
                             .files = walked_.files,
                             .kept_at = std::exchange(kept_at_, kNotKept)});
  }

  void take_kept(WalkedFolder& folder) {
    folder.left_out = kept_.each(
        folder.path, [this](const std::string& below) { walk(below); },
        [this](std::uint64_t at, std::size_t files) { kept_at_ = at, walked_.files += files; });
    count_.alive();
  }

  void list_anew(WalkedFolder& folder, const std::string& path) {
    ++walked_.listed_anew;
    for (const Entry& entry : entries_of(path, suffixes_, count_)) {
      const bool is_sample = has_suffix(entry.name, suffixes_);
      if (entry.kind == Kind::folder) {
        if (goes_down_) walk(path_in(folder.path, entry.name));
      } else if (entry.kind == Kind::file && is_sample) {
        walked_.names.append(entry.name).push_back('\0');
        ++walked_.files;
      } else if (entry.kind == Kind::dangling && is_sample && !left_out_.dangling_samples) {
        walked_.dangling.push_back(path_in(folder.path, entry.name));
      } else {
        leave_out(entry, folder);
      }
    }
  }

  void leave_out(const Entry& entry, WalkedFolder& folder) {
    count_left_out(entry, folder.left_out);
    // What a link leads to may come, and be a folder, without a trace in the folder of the link.
    if (entry.kind == Kind::dangling) folder.state.changed_ns = kUnknownTime;
    if (entry.kind == Kind::other || !left_out_.tell) return;
    left_out_.tell(path_in(folder.path, entry.name),
                   entry.kind == Kind::hidden     ? LeftOut::Why::hidden
                   : entry.kind == Kind::dangling ? LeftOut::Why::dangling
                                                  : LeftOut::Why::name);
  }

  const std::string root_;
  const std::span<const std::string_view> suffixes_;
  const KeptListing& kept_;
  FolderTimes& times_;
  ListCount& count_;
  const LeftOut& left_out_;
  bool goes_down_ = true;
  std::vector<FolderId> way_;         // from the class down to where it is
  std::uint64_t kept_at_ = kNotKept;  // of the files since the last step
  Walked walked_;
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

std::int64_t unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::vector<std::string> folders_among(const std::vector<Entry>& entries) {
  std::vector<std::string> folders;
  for (const Entry& entry : entries)
    if (entry.kind == Kind::folder) folders.push_back(entry.name);
  return folders;
}

// ".txt", as a person reads it.
std::string ending_of(const std::string& path) {
  constexpr std::size_t kLongest = 12;
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  const bool has_one = dot != std::string::npos && dot > 0 && name.size() - dot <= kLongest;
  return has_one ? printable(name.substr(dot), kLongest) : "without an ending";
}

[[noreturn]] void refuse_no_pictures(const std::string& root,
                                     std::span<const std::string_view> suffixes, ListCount& count) {
  LeftOutCount others;  // by ending
  const LeftOut tell{[&](const std::string& path, LeftOut::Why why) {
    others.add(why == LeftOut::Why::hidden ? kHidden : ending_of(path));
  }};
  const KeptListing none;
  FolderTimes times;
  ClassFolder(root, suffixes, {none, times}, count, tell).list("");
  const std::string most = others.most_frequent();
  const bool is_picture = !picture_ending("a" + most).empty();
  const bool holds_tar = std::ranges::any_of(entries_of(root, {}, count), [](const Entry& entry) {
    return entry.kind == Kind::file && has_shard_name(entry.name);
  });
  if (holds_tar && !is_picture) {
    throw Error(root, "holds tar files, not class folders",
                "read them as shards: --container webdataset --image-size mixed");
  }
  if (others.empty()) {
    throw Error(root, "holds no files",
                "give the folder of the pictures, or make a dataset: " + gen_command(root, ""));
  }
  constexpr std::size_t kMostEndings = 3;
  const std::string_view remedy = file_kind(most).remedy;
  const std::string reason =
      "holds no " + either_of(suffixes) + "; else it holds " + others.text(kMostEndings);
  if (remedy.empty() || is_picture)
    throw OtherKinds(root, reason, "give the folder of the pictures, or another --data");
  throw Error(root, reason, remedy);
}

// What lies in a folder: files and steps are those of all walks, one after the other.
struct Listing {
  std::vector<SampleFile> samples;  // without their sizes where they are listed anew
  std::vector<WalkStep> steps;
  int classes = 0;
  bool is_flat = false;  // no class folder holds a sample
  LeftOutCount left_out;
  ListedHow how;

  // `files`: that the walks before met. Leaves of the walk what its samples are made of.
  void add_steps(Walked& walked, std::size_t files) {
    for (WalkStep& step : walked.steps) {
      if (step.into) left_out.add(step.into->left_out);
      steps.push_back(std::move(step));
      steps.back().files += files;
    }
  }
};

// The class folders, and where none of them holds a sample, what lies in the root itself.
std::vector<Walked> walk_folders(const std::string& root, const std::vector<std::string>& folders,
                                 std::span<const std::string_view> suffixes, int threads,
                                 const KeptFolders& known, ListCount& count) {
  std::vector<Walked> walks(folders.size());
  in_parallel(
      folders.size(), threads,
      [&] {
        const auto lister =
            std::make_shared<ClassFolder>(root, suffixes, known, count, kNobodyAsks);
        return [&, lister](std::size_t i) { walks[i] = lister->list(folders[i]); };
      },
      [] { return false; });
  if (std::ranges::all_of(walks, [](const Walked& walked) { return walked.files == 0; }))
    walks.push_back(ClassFolder(root, suffixes, known, count, kNobodyAsks).list_flat());
  std::vector<std::string> dangling;
  for (Walked& walked : walks) std::ranges::move(walked.dangling, std::back_inserter(dangling));
  refuse_dangling(root, dangling);
  return walks;
}

// Makes the samples of all walks, each of which is a class if it met any, and empties the walks:
// their names and the samples' paths are the most that a listing takes.
void make_samples(std::vector<Walked>& walks, int threads, const KeptListing& kept,
                  ListCount& count, Listing& listing) {
  struct ClassPlace {
    std::size_t first = 0;
    std::int32_t label = 0;
  };
  std::vector<ClassPlace> places;
  places.reserve(walks.size());
  std::size_t files = 0;
  for (const Walked& walked : walks) {
    places.push_back({files, listing.classes});
    if (walked.files > 0) ++listing.classes;
    files += walked.files;
  }
  listing.samples.resize(files);
  in_parallel(
      walks.size(), threads,
      [&] {
        return [&, reads = std::make_shared<KeptFiles>(kept)](std::size_t i) {
          SampleFile* sample = listing.samples.data() + places[i].first;
          for_each_file(walks[i], *reads, [&](const std::string& folder, const KeptFile& file) {
            sample->path = path_in(folder, file.name);
            sample->label = places[i].label;
            sample->bytes = file.bytes;
            sample->changed_ns = file.changed_ns;
            ++sample;
          });
          std::string().swap(walks[i].names);
          count.alive();
        };
      },
      [] { return false; });
}

Listing list_folders(const std::string& root, const std::vector<std::string>& folders,
                     std::span<const std::string_view> suffixes, int threads,
                     const KeptFolders& known, ListCount& count) {
  const KeptListing& kept = known.kept;
  std::vector<Walked> walks = walk_folders(root, folders, suffixes, threads, known, count);
  Listing listing;
  listing.is_flat = walks.size() > folders.size();
  make_samples(walks, threads, kept, count, listing);
  std::size_t steps = 0, files = 0;
  for (const Walked& walked : walks) steps += walked.steps.size();
  listing.steps.reserve(steps);
  ListedHow& how = listing.how;
  for (Walked& walked : walks) {
    listing.add_steps(walked, files);
    files += walked.files;
    how.listed_anew += walked.listed_anew;
    walked = {};
  }
  how.files = files, how.folders = listing.steps.size() / 2;
  how.kept_folders = kept.folders();
  how.since_s = how.listed_anew < how.folders ? kept.since_s() : 0;
  return listing;
}

// With what is kept in `file`. A link in it may lead nowhere by now: then all is listed anew, which
// says what is wrong.
Listing list_with_kept(const std::string& root, const std::vector<std::string>& folders,
                       std::span<const std::string_view> suffixes, int threads,
                       const fs::path& file, const std::string& run, FolderTimes& times,
                       ListCount& count) {
  if (const KeptListing kept(file, count, run); kept.folders() > 0) {
    try {
      return list_folders(root, folders, suffixes, threads, {kept, times}, count);
    } catch (const Error&) {
    }
  }
  const KeptListing none;
  return list_folders(root, folders, suffixes, threads, {none, times}, count);
}

// What lies in the root: its folders, in name order, and what lies beside them, if these are
// classes. The list of its entries itself is as long as that of the files, where it has no classes.
struct RootEntries {
  std::vector<std::string> folders;
  LeftOutCount beside;
};

RootEntries look_at_root(const std::string& root, std::span<const std::string_view> suffixes,
                         ListCount& count) {
  const std::vector<Entry> entries = entries_of(root, {}, count);
  RootEntries found{.folders = folders_among(entries), .beside = {}};
  for (const Entry& entry : entries) {
    if (entry.kind == Kind::folder) continue;
    if (entry.kind == Kind::file && has_suffix(entry.name, suffixes)) {
      found.beside.add(kInNoClass);
    } else {
      count_left_out(entry, found.beside);
    }
  }
  return found;
}

// Seconds and the rest, as stat(2) has them: manifests were so before times were in ns.
std::string time_text(std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t rest = (ns % kSecond + kSecond) % kSecond;
  return std::to_string((ns - rest) / kSecond) + "." + std::to_string(rest);
}

// Sizes and times, where they are not known; returns the hash of names, labels, sizes and times.
std::string look_at_files(const std::string& root, std::vector<SampleFile>& samples, int threads,
                          ListCount& count) {
  std::vector<std::uint64_t> hashes(samples.size());
  in_parallel(
      samples.size(), threads,
      [&] {
        return [&, path = std::string()](std::size_t i) mutable {
          SampleFile& sample = samples[i];
          if (sample.changed_ns == kUnknownTime) {
            path.assign(root).append("/").append(sample.path);
            struct stat info;
            if (stat(path.c_str(), &info) != 0)
              refuse_reading(path, std::strerror(errno), errno, kNoChange);
            sample.bytes = static_cast<std::uint64_t>(info.st_size);
            sample.changed_ns = changed_ns(info);
          }
          const std::string line = sample.path + "\t" + std::to_string(sample.label) + "\t" +
                                   std::to_string(sample.bytes) + "\t" +
                                   time_text(sample.changed_ns);
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
  constexpr std::size_t kMostFormats = 256;  // `gen` makes fewer; classes may be thousands
  std::error_code error;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(data, error)) {
    if (entry.is_directory(error)) folders.push_back(entry.path());
    if (folders.size() > kMostFormats) return false;
  }
  for (const fs::path& folder : folders) {
    int looks = 0;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
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
      if (is_hidden(name)) continue;
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
  const KeptListing none;
  FolderTimes times;
  const Walked walked =
      ClassFolder(folder.string(), suffixes, {none, times}, count, left_out).list("");
  refuse_dangling(folder.string(), walked.dangling);
  std::vector<std::string> pictures;
  pictures.reserve(walked.files);
  KeptFiles kept(none);
  for_each_file(walked, kept, [&](const std::string& below, const KeptFile& file) {
    pictures.push_back(path_in(below, file.name));
  });
  return pictures;
}

bool holds_class_pictures(const fs::path& folder, std::span<const std::string_view> suffixes,
                          const ListProgress& progress) {
  ListCount count(progress);
  const KeptListing none;
  FolderTimes times;
  const std::vector<std::string> names = folders_among(entries_of(folder.string(), {}, count));
  const std::function<bool(const std::string&)> passes_none = [](const std::string&) {
    return false;
  };
  FirstPicture first(folder, suffixes, passes_none, count);  // one of a million will do
  ClassFolder lister(folder.string(), suffixes, {none, times}, count, kNobodyAsks);
  return std::ranges::any_of(
             names, [&](const std::string& name) { return !first.in_class(name).empty(); }) ||
         std::ranges::any_of(names,
                             [&](const std::string& name) { return lister.list(name).files > 0; });
}

std::string find_picture(const fs::path& folder, std::span<const std::string_view> suffixes,
                         const std::function<bool(const std::string&)>& passes,
                         const ListProgress& progress) {
  ListCount count(progress);
  FirstPicture first(folder, suffixes, passes, count);
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    count.alive();
    std::error_code ignored;
    const std::string name = entry->path().filename().string();
    if (is_hidden(name)) continue;
    if (has_suffix(name, suffixes) && entry->is_regular_file(ignored)) return name;
    if (!entry->is_directory(ignored)) continue;
    if (std::string found = first.in_class(name); !found.empty()) return found;
  }
  return {};
}

DatasetVariant list_image_folder(const fs::path& folder, std::span<const std::string_view> suffixes,
                                 int threads, const ListProgress& progress, const ListNote& note,
                                 const ListKeeping& keeping) {
  const std::string root = folder.string();
  ListCount count(progress);
  const std::int64_t began_ns = measure::now_ns(), began_at_ns = unix_ns();
  FolderTimes times(keeping.proc);
  // Without times that tell, and without a run, nobody could take it.
  const bool is_kept = !keeping.run.empty() || times.tell_changes(stat_folder(root).st_dev, root);
  const fs::path file = is_kept ? kept_listing_of(folder, suffixes) : fs::path();
  const auto [folders, beside] = look_at_root(root, suffixes, count);
  Listing listing = list_with_kept(root, folders, suffixes, threads,
                                   keeping.relist ? fs::path() : file, keeping.run, times, count);
  if (listing.samples.empty()) refuse_no_pictures(root, suffixes, count);
  if (!listing.is_flat) {
    listing.left_out.add(kEmptyClasses, folders.size() - static_cast<std::size_t>(listing.classes));
    listing.left_out.add(beside);
  }
  DatasetVariant variant{.folder = folder, .container = &own_files()};
  variant.samples = std::move(listing.samples);
  variant.manifest_xxh3 = look_at_files(root, variant.samples, threads, count);
  ListedHow& how = listing.how;
  how.seconds = measure::seconds(measure::now_ns() - began_ns);
  if (!how.is_as_kept())
    keep_listing(file, {how.since_s, began_at_ns, keeping.run}, listing.steps, variant.samples);
  variant.listed.seconds = how.seconds;
  if (how.files >= kManyFiles) variant.listed.text = how.text();
  if (note && !variant.listed.text.empty()) note(escaped(root) + ": " + variant.listed.text);
  sum_up(variant);
  variant.classes = listing.classes;
  variant.made = {{"source", "a folder of pictures, as it lies"},
                  {"count", std::to_string(variant.samples.size())},
                  {"classes", std::to_string(listing.classes)}};
  if (listing.is_flat) variant.made[kLayout] = "no class folders: one class";
  if (!listing.left_out.empty()) variant.made[kLeftOut] = listing.left_out.text();
  return variant;
}

}  // namespace feedrate::storage
