#include "cli/stored_size.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/supervised_process.h"
#include "codec/any_picture.h"
#include "codec/codec.h"
#include "storage/dataset.h"
#include "storage/own_folder.h"
#include "storage/tar_shards.h"
#include "storage/variant_name.h"

namespace feedrate::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOwnFolder = "/", kOwnShards = "/shards", kOwnNothing = "/nothing";

// Of a folder that no `gen` made: what it is read as, if that is what is asked for; kOwnNothing
// where it is not. Where shards alone will do, some that lie there are enough: whether they are
// read is not decided here.
std::string look_at_own(const fs::path& folder, const std::set<std::string>& kinds) {
  const auto is_of_shards = [](const std::string& kind) {
    return kind.ends_with("." + std::string(storage::kShardsContainer));
  };
  const bool shards_will_do = std::ranges::any_of(kinds, is_of_shards),
             folders_will_do = !std::ranges::all_of(kinds, is_of_shards);
  const bool is_any = std::ranges::any_of(
      kinds, [](const std::string& kind) { return kind.starts_with(codec::kAnyPicture); });
  const storage::OwnFolder found = storage::look_at_own_folder(
      folder, is_any ? codec::endings_of(codec::kAnyPicture) : codec::picture_endings());
  if (shards_will_do && (found.are_shards() || (!folders_will_do && found.shards > 0)))
    return std::string(kOwnShards);
  const bool are_pictures = !found.are_shards() && !found.is_empty();
  return std::string(are_pictures && folders_will_do ? kOwnFolder : kOwnNothing);
}

// The name of the one size's folder; as look_at_own() where no `gen` made the dataset; empty: none.
std::string look(const fs::path& dataset, const std::set<std::string>& kinds) {
  std::error_code error;
  if (!fs::is_directory(dataset, error)) return std::string(kOwnNothing);
  if (!fs::exists(dataset / "dataset.json", error)) return look_at_own(dataset, kinds);
  std::string only;
  for (const std::string& kind : kinds) {
    for (fs::directory_iterator entry(dataset / kind, error), end; !error && entry != end;
         entry.increment(error)) {
      if (!fs::exists(entry->path() / "files.tsv", error)) continue;
      const std::string found = entry->path().filename().string();
      if (!only.empty() && only != found) return "";
      only = found;
    }
    if (error) return "";
  }
  return only;
}

// A folder in it that cannot be looked into: what is read then says why.
std::string look_or_leave(const fs::path& dataset, const std::set<std::string>& kinds) {
  try {
    return look(dataset, kinds);
  } catch (const Error&) {
    return std::string(kOwnFolder);
  }
}

}  // namespace

StoredSizeLook look_for_stored_size(const fs::path& dataset, const std::set<std::string>& kinds,
                                    std::chrono::milliseconds patience) {
  // One that waits for storage ends when that answers, and is nobody's any more.
  SupervisedProcess process(
      [&] {
        close(STDERR_FILENO);  // what a library says there is no answer
        const std::string line = look_or_leave(dataset, kinds) + "\n";
        return write(STDOUT_FILENO, line.data(), line.size()) < 0 ? 1 : 0;
      },
      SupervisedProcess::Output::captured);
  auto found = process.output(SupervisedProcess::Clock::now() + patience);
  if (!found || found->empty()) return {};
  found->pop_back();
  if (found->empty()) return {.is_answered = true};
  if (*found == kOwnNothing) return {.is_answered = true, .is_nothing_of_gens = true};
  if (*found == kOwnFolder || *found == kOwnShards)
    return {.is_answered = true,
            .only = StoredSize{.size = std::string(storage::kMixedSizes),
                               .detail = "",
                               .made = false,
                               .is_shards = *found == kOwnShards}};
  const storage::VariantName name = storage::variant_name_from("/" + *found);
  return {.is_answered = true, .only = StoredSize{name.size, name.detail}};
}

}  // namespace feedrate::cli
