#include "storage/left_out.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "storage/listing.h"

namespace feedrate::storage {
namespace {

using KindCount = std::pair<std::string, std::uint64_t>;

std::vector<KindCount> by_frequency(const std::map<std::string, std::uint64_t>& of_kind) {
  std::vector<KindCount> kinds(of_kind.begin(), of_kind.end());
  std::ranges::stable_sort(kinds, std::ranges::greater{}, &KindCount::second);
  return kinds;
}

constexpr const char* kOtherKinds = "of other kinds";

// A kind as it is said of so many.
std::string kind_words(std::uint64_t count, std::string_view kind) {
  struct Words {
    std::string_view several, one;
  };
  static constexpr Words kWords[] = {{kDanglingLinks, "link that leads nowhere"},
                                     {kEmptyClasses, "class folder without pictures"},
                                     {kEmptyShards, "shard without pictures"},
                                     {kBesideShards, "picture beside the shards"},
                                     {kDottedNames, "with further dots in its name"},
                                     {kOtherKinds, "of another kind"}};
  const auto found = std::ranges::find(kWords, kind, &Words::several);
  return std::string(count == 1 && found != std::end(kWords) ? found->one : kind);
}

}  // namespace

bool is_hidden(std::string_view name) {
  // Of macOS, Windows, Synology's file servers, and ext4, whose folder root alone may read.
  static constexpr std::string_view kOfSystems[] = {
      "__macosx",     "thumbs.db", "desktop.ini", "system volume information",
      "$recycle.bin", "@eadir",    "lost+found"};
  return name.starts_with('.') || std::ranges::any_of(kOfSystems, [&](std::string_view kept) {
           return is_in_any_case(name, kept);
         });
}

std::string_view picture_ending(std::string_view name) {
  static constexpr std::string_view kPictures[] = {"jpg",  "jpeg", "jpe", "jfif", "png",  "bmp",
                                                   "gif",  "webp", "tif", "tiff", "avif", "heic",
                                                   "heif", "jxl",  "jp2", "ppm",  "pgm"};
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  const auto known = std::ranges::find_if(kPictures, [&](std::string_view ending) {
    return is_in_any_case(name.substr(dot + 1), ending);
  });
  return known == std::end(kPictures) ? std::string_view{} : *known;
}

std::string LeftOutCount::most_frequent() const {
  for (const auto& [kind, count] : by_frequency(of_kind_))
    if (kind != kHidden) return kind;
  return "";
}

std::string LeftOutCount::text(std::size_t most) const {
  std::string kinds;
  std::uint64_t all = 0, others = 0;
  const auto add_kind = [&](std::uint64_t count, std::string_view kind) {
    kinds += (kinds.empty() ? "" : ", ") + std::to_string(count) + " " + kind_words(count, kind);
  };
  std::size_t shown = 0;
  for (const auto& [kind, count] : by_frequency(of_kind_)) {
    all += count;
    if (shown++ < most) {
      add_kind(count, kind);
    } else {
      others += count;
    }
  }
  if (others > 0) add_kind(others, kOtherKinds);
  return all == 0 ? "" : std::to_string(all) + " (" + kinds + ")";
}

}  // namespace feedrate::storage
