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

bool leads_nowhere(int error) { return error == ENOENT || error == ELOOP || error == ENOTDIR; }

bool is_in_any_case(std::string_view text, std::string_view lower) {
  return std::ranges::equal(
      text, lower, [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

std::string either_of(std::span<const std::string_view> suffixes) {
  std::string all;
  for (const std::string_view suffix : suffixes)
    all += (all.empty() ? "" : " or ") + std::string(suffix);
  return all;
}

}  // namespace feedrate::storage
