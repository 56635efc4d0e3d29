#include "storage/listing.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <vector>

#include "base/text.h"

namespace feedrate::storage {

std::string listing_note(const DatasetVariant& variant) {
  std::vector<std::string> said;
  const auto& made = variant.made;
  if (const auto layout = made.find(kLayout); layout != made.end()) said.push_back(layout->second);
  if (const auto out = made.find(kLeftOut); out != made.end())
    said.push_back("left out: " + out->second);
  std::string note;
  for (const std::string& one : said) note += (note.empty() ? "" : "; ") + one;
  return note.empty() ? "" : escaped(variant.folder.string()) + ": " + note;
}

// Of a time that no 64 bits hold the number is meaningless, and still the same each time.
std::int64_t ns_of(const struct timespec& time) {
  constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(time.tv_sec) * kNsPerSecond +
                                   static_cast<std::uint64_t>(time.tv_nsec));
}
std::int64_t changed_ns(const struct stat& info) { return ns_of(info.st_mtim); }

bool leads_nowhere(int error) { return error == ENOENT || error == ELOOP || error == ENOTDIR; }

bool is_in_any_case(std::string_view text, std::string_view lower) {
  return std::ranges::equal(
      text, lower, [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

bool has_suffix(std::string_view name, std::span<const std::string_view> suffixes) {
  return std::ranges::any_of(suffixes, [&](std::string_view suffix) {
    return name.size() > suffix.size() &&
           is_in_any_case(name.substr(name.size() - suffix.size()), suffix);
  });
}

std::string either_of(std::span<const std::string_view> suffixes) {
  std::string all;
  for (const std::string_view suffix : suffixes)
    all += (all.empty() ? "" : " or ") + std::string(suffix);
  return all;
}

}  // namespace feedrate::storage
