#include "base/closest.h"

#include <algorithm>
#include <cstddef>
#include <system_error>

namespace feedrate {
namespace {

std::size_t edits_between(std::string_view a, std::string_view b) {
  // Rows of the table: for the first i letters of a, the one before, and the one before that.
  std::vector<std::size_t> row(b.size() + 1), before(b.size() + 1), earlier(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    earlier = before, before = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({row[j - 1] + 1, before[j] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], earlier[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> closest(std::string_view typed,
                                   const std::vector<std::string>& candidates) {
  constexpr std::size_t kTooLong = 64;  // no name has so many letters
  if (typed.empty() || typed.size() > kTooLong) return std::nullopt;
  std::size_t fewest = std::max<std::size_t>(1, typed.size() / 3) + 1;
  std::optional<std::string> found;
  for (const std::string& candidate : candidates) {
    const bool begins = typed.size() >= 3 && candidate.starts_with(typed);
    const std::size_t edits = begins ? 1 : edits_between(typed, candidate);
    if (edits < fewest) {
      fewest = edits, found = candidate;
    } else if (edits == fewest && found != candidate) {
      found.reset();
    }
  }
  return found;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& candidates) {
  const auto found = closest(typed, candidates);
  return found ? "did you mean " + *found + "?" : "";
}

std::string did_you_mean_folder(const std::filesystem::path& missing) {
  namespace fs = std::filesystem;
  std::vector<std::string> beside;
  std::error_code error;
  const fs::path named = missing.has_filename() ? missing : missing.parent_path();  // "photos/"
  const fs::path parent = named.parent_path();
  for (fs::directory_iterator entry(parent.empty() ? fs::path(".") : parent, error), end;
       !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) beside.push_back(entry->path().filename().string());
  }
  const auto found = closest(named.filename().string(), beside);
  return found ? "did you mean " + (parent / *found).string() + "?" : "";
}

}  // namespace feedrate
