#include "data_gen/generate_folder.h"

// The user's own pictures as a source (`--from`).
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/file_remedy.h"
#include "base/in_parallel.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "base/xxh3.h"
#include "codec/any_picture.h"
#include "codec/codec.h"
#include "codec/sniff.h"
#include "storage/image_folder.h"
#include "storage/left_out.h"
#include "storage/manifest.h"
#include "storage/own_folder.h"

namespace feedrate::data_gen {
namespace {

namespace fs = std::filesystem;

struct FoundPicture {
  std::string path;  // below the folder, generic separators
  std::string class_name;
  std::int32_t label = 0;
  codec::PixelSize size;  // known once it was decoded
};

// Counts what lies beside the pictures that are taken and looks like one.
class Unread {
 public:
  explicit Unread(const fs::path& folder) : folder_(folder) {}

  void add(const std::string& path, storage::LeftOut::Why why) {
    using Why = storage::LeftOut::Why;
    const std::string_view ending =
        storage::picture_ending(std::string_view(path).substr(path.rfind('/') + 1));
    if (why != Why::dangling && ending.empty()) return;
    add_to(why == Why::dangling ? kLink : why == Why::hidden ? kHidden : ending, path);
  }
  void add_in_no_class(const std::string& path) { add_to(kNoClass, path); }

  void tell(const std::function<void(const std::string&, std::int64_t)>& on_skipped) const {
    if (!on_skipped) return;
    for (const auto& [ending, some] : of_) {
      const std::string more =
          some.count > 1 ? " (and " + std::to_string(some.count - 1) + " more)" : "";
      const std::string reason =
          ending == kLink     ? "a link that leads nowhere" + more
          : ending == kHidden ? "is hidden" + more
          : ending == kNoClass
              ? "lies in no class folder" + more
              : "a *." + std::string(ending) + more + "; gen reads *.jpg, *.jpeg, *.png, *.webp";
      // A name may hold what a terminal obeys: nobody has checked it.
      on_skipped(line_of_utf8((folder_ / some.first).string(), 1000) + ": " + reason, some.count);
    }
  }

 private:
  struct Some {
    std::int64_t count = 0;
    std::string first;
  };
  void add_to(std::string_view what, const std::string& path) {
    Some& some = of_[what];
    if (some.count++ == 0 || path < some.first) some.first = path;
  }

  const fs::path& folder_;
  static constexpr std::string_view kLink = "link", kHidden = "hidden", kNoClass = "no class";
  std::map<std::string_view, Some> of_;  // by ending, or one of these
};

// `run --dataset FOLDER` would read the shards.
void refuse_shards(const fs::path& folder, const storage::ListProgress& listing) {
  const storage::OwnFolder found =
      storage::look_at_own_folder(folder, codec::endings_of(codec::kAnyPicture), listing);
  if (!found.are_shards()) return;
  throw Error(folder.string(), "holds tar shards (" + std::to_string(found.shards) + ")",
              "unpack them, and name the folder of the pictures");
}

// Where class folders hold pictures, those beside them are of no class.
void leave_out_beside(std::vector<FoundPicture>& pictures, Unread& unread) {
  const auto is_beside = [](const FoundPicture& picture) {
    return picture.path.find('/') == std::string::npos;
  };
  if (std::ranges::all_of(pictures, is_beside)) return;
  for (const FoundPicture& picture : pictures)
    if (is_beside(picture)) unread.add_in_no_class(picture.path);
  std::erase_if(pictures, is_beside);
}

// By the rule by which `run --dataset FOLDER` reads it, so that both take the same files.
std::vector<FoundPicture> find_pictures(const fs::path& folder, const PictureCheck& check) {
  static constexpr std::string_view kEndings[] = {".jpg", ".jpeg", ".png", ".webp"};
  const StorageNews& news = check.news;
  const std::string name = folder.string();
  news.waits_for(name);
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    refuse_reading(name, error ? error.message() : "is no folder", error.value(),
                   "name a folder of pictures that can be read");
  }
  std::vector<FoundPicture> found;
  const auto listing = [&](std::uint64_t) { news.waits_for(name); };
  refuse_shards(folder, listing);
  Unread unread(folder);
  const storage::LeftOut left_out{
      [&](const std::string& path, storage::LeftOut::Why why) { unread.add(path, why); },
      check.skip_bad};
  for (const std::string& path : storage::list_pictures(folder, kEndings, listing, left_out)) {
    const std::size_t slash = path.find('/');
    found.push_back({path, slash == std::string::npos ? "class_000" : path.substr(0, slash)});
  }
  leave_out_beside(found, unread);
  unread.tell(check.on_skipped);
  std::ranges::sort(found, {}, &FoundPicture::path);
  return found;
}

std::vector<FoundPicture> spread(std::vector<FoundPicture> all, std::int64_t count) {
  const auto have = static_cast<std::int64_t>(all.size());
  if (count <= 0 || count >= have) return all;
  std::vector<FoundPicture> chosen;
  for (std::int64_t i = 0; i < count; ++i) {
    chosen.push_back(std::move(all[static_cast<std::size_t>(i * have / count)]));
  }
  return chosen;
}

// ImageNet has a PNG under a JPEG's name, so the first bytes decide, not the extension.
std::string_view format_name_of(const std::vector<std::byte>& file, const std::string& path) {
  const std::string_view format = codec::sniff(file).format;
  if (reads_format(format)) return format;
  throw Error(path, "no JPEG, PNG or WebP", "remove or replace the file");
}

// Passes the pixels of a picture to `use` and returns its result.
template <typename Use>
auto decode_picture(const fs::path& path, const StorageNews& news, const Use& use) {
  news.waits_for(path.string());
  std::vector<std::byte> file;
  try {
    read_whole_file(path, file);
  } catch (const std::system_error& error) {
    refuse_reading(path.string(), error.code().message(), error.code().value(),
                   "remove or replace the file");
  }
  const auto decoder =
      codec::find_picture_format(format_name_of(file, path.string()))->make_decoder();
  const codec::PixelSize stored = decoder->open(file, path.string());
  return use(decoder->decode({0, 0, stored.width, stored.height}, 1).pixels);
}

// What is wrong with each picture; empty: nothing. The others then know their size.
std::vector<std::string> find_bad(const fs::path& folder, std::vector<FoundPicture>& pictures,
                                  const PictureCheck& check) {
  std::vector<std::string> reasons(pictures.size());
  GenerateProgress progress{.checking = true,
                            .samples = static_cast<std::int64_t>(pictures.size())};
  std::mutex mutex;
  const auto make_work = [&] {
    return [&](std::size_t i) {
      try {
        pictures[i].size = decode_picture(folder / pictures[i].path, check.news,
                                          [](const codec::PixelView& pixels) {
                                            return codec::PixelSize{pixels.width, pixels.height};
                                          });
      } catch (const Error& error) {
        reasons[i] = std::string(error.what()).substr(0, std::string_view(error.what()).find("; "));
      }
      const std::scoped_lock lock(mutex);
      ++progress.samples_done;
      if (check.on_progress) check.on_progress(progress);
    };
  };
  if (!in_parallel(pictures.size(), check.threads, make_work,
                   [&] { return check.stop && check.stop(); })) {
    throw Error("interrupted", "while the pictures were checked; nothing was written");
  }
  return reasons;
}

// Leaves the pictures that can be decoded.
void drop_bad(const fs::path& folder, std::vector<FoundPicture>& pictures,
              const PictureCheck& check) {
  constexpr std::size_t kListed = 20;
  const std::vector<std::string> reasons = find_bad(folder, pictures, check);
  std::vector<FoundPicture> good;
  std::string list;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    if (reasons[i].empty()) {
      good.push_back(std::move(pictures[i]));
      continue;
    }
    if (check.skip_bad && check.on_skipped) check.on_skipped(reasons[i], 1);
    if (i + 1 - good.size() <= kListed) list.append("\n  ").append(reasons[i]);
  }
  const std::size_t bad = pictures.size() - good.size();
  if (bad > kListed) list.append("\n  and ").append(std::to_string(bad - kListed)).append(" more");
  if (bad > 0 && !check.skip_bad) {
    throw Error(folder.string(), std::to_string(bad) + " of " + std::to_string(pictures.size()) +
                                     " pictures cannot be decoded; remove or replace them, or "
                                     "leave them out with --skip-bad:" +
                                     list);
  }
  pictures = std::move(good);
}

class FolderSource : public PictureSource {
 public:
  FolderSource(const fs::path& folder, std::int64_t count, const PictureCheck& check)
      : folder_(fs::absolute(folder).lexically_normal()),
        news_(check.news),
        pictures_(spread(find_pictures(folder_, check), count)) {
    drop_bad(folder_, pictures_, check);
    if (pictures_.empty()) {
      throw Error(folder_.string(), "holds no *.jpg, *.jpeg, *.png or *.webp that can be decoded",
                  "name a folder of pictures");
    }
    std::map<std::string, std::int32_t> labels;
    for (const FoundPicture& picture : pictures_) labels[picture.class_name] = 0;
    for (auto& [name, label] : labels) {
      if (!storage::stays_inside(name))
        throw Error(name, "cannot be a class name", "rename the folder");
      label = static_cast<std::int32_t>(class_names_.size());
      class_names_.push_back(name);
    }
    for (FoundPicture& picture : pictures_) picture.label = labels[picture.class_name];
  }

  std::int64_t count() const override { return static_cast<std::int64_t>(pictures_.size()); }
  std::int32_t classes() const override { return static_cast<std::int32_t>(class_names_.size()); }
  std::int32_t label(std::int64_t index) const override { return at(index).label; }
  std::string class_folder(std::int32_t label) const override {
    return class_names_[static_cast<std::size_t>(label)];
  }

  codec::PixelSize size(std::int64_t index) const override { return at(index).size; }
  codec::EncodeOptions encoding(std::int64_t, const codec::EncodeOptions& asked) const override {
    return asked;
  }

  Picture make(std::int64_t index, codec::PixelSize size, float) const override {
    return decode_picture(folder_ / at(index).path, news_, [&](const codec::PixelView& pixels) {
      return crop_and_resize(pixels, size);
    });
  }

  std::string name() const override { return folder_.string(); }

  // The list of files with their sizes: pictures added, removed or replaced since the dataset was
  // begun would give samples that belong to another one.
  std::string fingerprint() const override {
    std::string list;
    for (const FoundPicture& picture : pictures_) {
      std::error_code error;
      news_.waits_for((folder_ / picture.path).string());
      const auto bytes = fs::file_size(folder_ / picture.path, error);
      list.append(picture.path).append("\t").append(std::to_string(bytes)).append("\n");
    }
    return to_hex(xxh3_of(std::as_bytes(std::span(list))));
  }

 private:
  const FoundPicture& at(std::int64_t index) const {
    return pictures_[static_cast<std::size_t>(index)];
  }

  fs::path folder_;
  StorageNews news_;
  std::vector<FoundPicture> pictures_;
  std::vector<std::string> class_names_;
};

}  // namespace

bool reads_format(std::string_view format) {
  return format == "jpeg" || format == "png" || format == "webp";
}

std::unique_ptr<PictureSource> make_folder_source(const fs::path& folder, std::int64_t count,
                                                  const PictureCheck& check) {
  return std::make_unique<FolderSource>(folder, count, check);
}

}  // namespace feedrate::data_gen
