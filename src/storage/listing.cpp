#include "storage/listing.h"

#include <algorithm>
#include <cctype>
#include <cerrno>

namespace feedrate::storage {

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
